import { createClient } from 'latchkey/client';

export const client = createClient();
