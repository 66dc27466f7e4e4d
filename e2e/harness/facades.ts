// What the guide's examples import besides the engine.
import * as ai from 'ai';
import OpenAI from 'openai';
import { createOutrider } from '../../src/api/ai-sdk.ts';
import { openai, openaiFetch } from '../../src/api/openai.ts';
import { promptApi } from '../../src/api/prompt-api.ts';
import { promptApiBackend } from '../../src/api/prompt-api-polyfill.ts';

export const names = { ...ai, OpenAI, createOutrider, openai, openaiFetch, promptApi, promptApiBackend };
