// Chat templates for tests of tools and reasoning, small, in the form that families write.

const EACH = "{% for message in messages %}<{{ message['role'] }}>{{ message['content'] }}";
const CALLS =
  '{% for call in message.tool_calls or [] %}<tool_call>\n{{ call.function | tojson }}\n</tool_call>{% endfor %}';

/** Knows tools in the form of Hermes. */
export const HERMES_TEMPLATE = `{% for tool in tools or [] %}{{ tool | tojson }}{% endfor %}${EACH}${CALLS}{% endfor %}<assistant>`;

/** Thinks first, can be switched, and leaves out earlier reasoning. */
export const REASONING_TEMPLATE = [
  "{% for message in messages %}<{{ message['role'] }}>",
  '{% if loop.last and message.reasoning_content %}<think>\n{{ message.reasoning_content }}\n</think>\n\n{% endif %}',
  "{{ message['content'].split('</think>')[-1] }}{% endfor %}<assistant>",
  '{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% else %}<think>\n{% endif %}',
].join('');
