import { describe, expect, test } from '@jest/globals';
import {
  type AccountAge,
  beyondLimits,
  type DeviceFacts,
  provingDevices,
} from '../../lib/sessions/device-rules.js';
import { DAY } from '../support/sessions.js';

const NOW = Date.now();
const day = (days: number) => new Date(NOW - days * DAY);
let count = 0;
const device = (age: number, more: Partial<DeviceFacts> = {}): DeviceFacts => ({
  id: String(count++).padStart(6, '0'),
  createdAt: day(age),
  lastUsedAt: day(Math.min(age, 1)),
  forgottenAt: null,
  dropped: null,
  ...more,
});
/** @param used for an imported account, how many days ago its first sign-in here was; null for never */
const account = (age: number, used?: number | null): AccountAge => ({
  createdAt: day(age),
  importedAt: used === undefined ? null : day(age - 1),
  firstUsedAt: used === undefined || used === null ? null : day(used),
});

describe('the devices that prove who undoes a change', () => {
  const old = device(30);
  const young = device(29.9);
  const long = device(60, { forgottenAt: day(30) });
  const over = device(60, { forgottenAt: day(30.1) });
  const idle = device(200, { lastUsedAt: day(90) });
  const dropped = device(60, { forgottenAt: day(1), dropped: true });
  const after = device(60, { forgottenAt: day(-1), dropped: true });

  test.each<[string, DeviceFacts[], AccountAge, DeviceFacts[]]>([
    ['are known for 30 days', [old, young], account(200), [old]],
    ['can have been forgotten 30 days before', [long, over], account(200), [long]],
    ['were used in the last 90 days', [idle, old], account(200), [old]],
    ['are not dropped before the change', [dropped, after], account(200), [after]],
    ['are the first one of a young account', [young, device(20), device(1)], account(29.9), [young]],
    ['are not the second one, though the first was forgotten', [device(29), over], account(29.9), []],
    ['are the first one that was not dropped', [dropped, young], account(29.9), [young]],
    ['are none of an old account with young devices', [young], account(30), []],
    [
      'are the first one of an imported account that is new here',
      [young, device(3)],
      account(900, 29),
      [young],
    ],
    ['are those known for long of an imported account', [old, young], account(900, 60), [old]],
    ['are the first one of an imported account that nobody has used', [young], account(900, null), [young]],
    ['are none of an imported account that was used long ago', [young], account(900, 40), []],
    ['are none without devices', [], account(900, 60), []],
    ['are none from the time of the change', [device(0)], account(0), []],
  ])('%s', (_what, devices, age, proving) => {
    expect(provingDevices(devices, age, day(0))).toEqual(proving);
  });
});

describe('the limits', () => {
  const many = (length: number, age: number, more: Partial<DeviceFacts> = {}) =>
    Array.from({ length }, () => device(age, more));

  test('are 50 of those known for long, and 50 of the others with the new one', () => {
    const first = device(100);
    const [old, young] = [many(60, 40), many(60, 3)];
    const { toForget, toDelete } = beyondLimits([...young, ...old, first], day(0));
    expect(toForget).toEqual([...old.slice(50), ...young.slice(49)]);
    expect(toDelete).toEqual([]);
  });

  test('never push out the first one', () => {
    const first = device(100);
    expect(beyondLimits([...many(50, 40), first], day(0)).toForget).toEqual([]);
    const youngest = device(5);
    expect(beyondLimits([...many(49, 3), youngest], day(0)).toForget).toEqual([]);
  });

  test('leave 100 forgotten ones, the oldest', () => {
    const [old, young] = [many(70, 50, { forgottenAt: day(1) }), many(70, 2, { forgottenAt: day(1) })];
    expect(beyondLimits([...young, ...old], day(0)).toDelete).toEqual(young.slice(30));
  });
});
