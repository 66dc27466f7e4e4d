// The anchor of a heading, as GitHub makes it. Links between documents name it, and the documents' pages have it as an id.

/** @param {string} heading */
const slugOf = (heading) =>
  heading
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

/** For the headings of one document, in their order: a repeated one gets a number. @returns {(heading: string) => string} */
export const anchors = () => {
  /** @type {Map<string, number>} */
  const seen = new Map();
  return (heading) => {
    const slug = slugOf(heading);
    const count = seen.get(slug) ?? 0;
    seen.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  };
};
