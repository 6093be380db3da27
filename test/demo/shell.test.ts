import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runOnce } from '../../src/demo/exec.ts';
import type { Machine } from '../../src/demo/machine.ts';
import { startTicks } from '../../src/demo/procFiles.ts';
import { unitOf } from '../../src/demo/worldLife.ts';
import type { Proc, Unit } from '../../src/demo/worldTypes.ts';
import * as commandLines from '../../src/domain/commandLine.ts';
import {
	GUARD_FAILED,
	startContainer,
	startUnit,
	stopContainer,
	stopUnit,
	terminateProcess,
	withSudoPassword,
} from '../../src/domain/commandLine.ts';
import { answer, machines, until } from './support.ts';

let head: Machine;
let all: readonly Machine[];
beforeAll(() => {
	all = machines(50);
	head = all[0]!;
});
afterAll(() => {
	for (const machine of all) machine.stop();
});

describe('the shell', () => {
	test.each([
		[`echo a  'b  c' "d  e" f\\ g`, 'a b  c d  e f g\n'],
		[`echo "a\\"b\\$c" 'x\\y' "p\\q"`, 'a"b$c x\\y p\\q\n'],
		['X=1; echo $X "$X" \'$X\' ${X} ${Y:-none} "${Y:-a  b}" ${Y:-$X}', '1 1 $X 1 none a  b 1\n'],
		['X="a  b"; echo $X "$X"', 'a b a  b\n'],
		['X=1 env | grep ^X=', 'X=1\n'],
		['X=1 true; echo "[$X]"', '[]\n'],
		["export X=5; sh -c 'echo $X'", '5\n'],
		['X=5; sh -c \'echo "[$X]"\'', '[]\n'],
		['echo $(echo "a b"; echo c) "$(printf "x\\n\\n")"', 'a b c x\n'],
		['echo "$(echo "$(echo deep) (and) quoted")"', 'deep (and) quoted\n'],
		['sh -c \'printf "%s," "$0" "$@" "$#"\' NAME \'a b\' c', 'NAME,a b,c,2,'],
		["sh -c 'echo $@' N 'a  b'", 'a b\n'],
		['true && echo yes || echo no', 'yes\n'],
		['false && echo yes || echo no', 'no\n'],
		['false || false && echo x; echo $?', '1\n'],
		['echo one; echo two\necho three # not this', 'one\ntwo\nthree\n'],
		['! false && echo turned', 'turned\n'],
		['exit 3 | cat; echo still', 'still\n'],
		['echo a b c | cut -d" " -f2', 'b\n'],
		['nosuch 2>/dev/null; echo $?', '127\n'],
		['nosuch 2>&1 | wc -l', '1\n'],
		['echo gone >/dev/null; echo 1>&2 x', ''],
		['cd /tmp; : ; echo ok', 'ok\n'],
		['echo $HOME $USER $XDG_RUNTIME_DIR', '/home/spark spark /run/user/1000\n'],
		['echo a=b -n "" end', 'a=b -n  end\n'],
		['echo "#" a#b', '# a#b\n'],
		['echo a\\\nb', 'ab\n'],
		['[ a = a ] && [ a != b ] && [ -n x ] && [ -z "" ] && [ -f /proc/meminfo ] && echo all', 'all\n'],
		['test 3 -gt 2 && echo more', 'more\n'],
		['/usr/bin/hostname; /bin/true && echo paths', 'spark-1a32\npaths\n'],
	])('%s', async (line, out) => expect((await runOnce(head, line)).out).toBe(out));

	test.each([
		['exit 7', 7, ''],
		['exec false; echo never', 1, ''],
		['exec sh -c "exit 9"', 9, ''],
		['nosuch', 127, 'sh: 1: nosuch: not found\n'],
		['[ a b ]', 2, 'sh: 1: [: a: unexpected operator\n'],
		['[ a = b', 2, 'sh: 1: [: missing ]\n'],
		['[ x = y ]', 1, ''],
		["echo 'open", 2, 'sh: 1: Syntax error: Unterminated quoted string\n'],
		['echo "open', 2, 'sh: 1: Syntax error: Unterminated quoted string\n'],
		['a | ', 2, 'sh: 1: Syntax error: end of file unexpected\n'],
		['a && ', 2, 'sh: 1: Syntax error: end of file unexpected\n'],
		['a ;; b', 2, 'sh: 1: Syntax error: ";;" unexpected\n'],
		['| a', 2, 'sh: 1: Syntax error: "|" unexpected\n'],
		['echo $(a', 2, 'sh: 1: Syntax error: end of file unexpected (expecting ")")\n'],
		['echo )', 2, 'sh: 1: Syntax error: ")" unexpected\n'],
		['if true; then echo; fi', 2, 'sh: 1: Syntax error: "if" unexpected\n'],
		['echo `date`', 2, 'sh: 1: Syntax error: "`" unexpected\n'],
		['sleep 1 &', 2, 'sh: 1: Syntax error: "&": this simulated host runs nothing in the background\n'],
		['echo ${X', 2, 'sh: 1: Bad substitution\n'],
		['echo x > /tmp/file', 2, 'sh: 1: cannot open /tmp/file: Read-only file system\n'],
	])('%s ends with %i', async (line, code, err) =>
		expect(await runOnce(head, line)).toMatchObject({ code, err, out: '' }),
	);
	test('a syntax error anywhere runs nothing before it', async () => {
		expect((await runOnce(head, 'echo first; echo "')).out).toBe('');
	});
});

describe('every command line that acts', () => {
	test('is here: one that is added has to be tried too', () => {
		const tried = ['startContainer', 'startUnit', 'stopContainer', 'stopUnit', 'terminateProcess'];
		const others = ['GUARD_FAILED', 'authorityFor', 'quote', 'wantsSudoPassword', 'withSudoPassword'];
		expect(Object.keys(commandLines).sort()).toEqual([...others, ...tried].sort());
	});
	const unit = (manager: string, name: string): Unit => unitOf(head.see(), manager, name)!;
	const runs = (line: string) => runOnce(head, line);

	test.each([
		['system', 1000, 'vllm-reranker.service'],
		['system', 0, 'vllm-cluster.service'],
		['user', 1000, 'vllm-embeddings.service'],
	] as const)('%s manager as uid %i: %s is stopped and started', async (manager, uid, name) => {
		const target = unit(manager, name);
		const { invocation } = target;
		const wrong = await runs(stopUnit(manager, uid, name, '0'.repeat(32)).line);
		expect(wrong).toEqual({ code: GUARD_FAILED, out: '', err: '' });
		expect([target.active, target.job, target.invocation]).toEqual(['active', null, invocation]);

		const stopped = await runs(stopUnit(manager, uid, name, invocation).line);
		if (uid === 0) {
			// That line is for root, which nobody is here: it fails as it would over there.
			expect(stopped).toMatchObject({ code: 1, err: expect.stringContaining('Interactive authentication required') });
			expect(target.active).toBe('active');
			return;
		}
		expect(stopped.code).toBe(0);
		// --no-block: accepted, not done.
		expect(target.job?.type).toBe('stop');
		if (manager === 'system')
			expect(stopped.err).toMatch(/^Failed to stop .*: Interactive authentication required\.\n/);
		await until(
			() => target.active,
			(active) => active === 'inactive',
		);

		expect((await runs(startUnit(manager, uid, name).line)).code).toBe(0);
		await until(
			() => target.active,
			(active) => active === 'active',
		);
		expect(target.invocation).not.toBe(invocation);
		// What runs already is left alone.
		const { mainPid } = target;
		expect((await runs(startUnit(manager, uid, name).line)).code).toBe(0);
		expect([target.mainPid, target.job]).toEqual([mainPid, null]);
	});
	test('without rights sudo says so, and nothing is touched', async () => {
		head.see().faults.sudo = 'refuses';
		const target = unit('system', 'vllm-proxy');
		const outcome = await runs(stopUnit('system', 1000, target.spec.name, target.invocation).line);
		head.see().faults.sudo = 'free';
		expect(outcome).toMatchObject({ code: 1, err: expect.stringMatching(/sudo: a password is required\n$/) });
		expect([target.active, target.job]).toEqual(['active', null]);
	});
	test('sudo takes its password from stdin after its prompt, up to three times', async () => {
		head.see().faults.sudo = 'asks';
		const target = unit('system', 'vllm-proxy');
		const line = withSudoPassword(stopUnit('system', 1000, target.spec.name, target.invocation).line, 'P>');
		const refused = await runOnce(head, line, 'no\nno\nno\n');
		expect(refused).toMatchObject({ code: 1, err: expect.stringContaining('3 incorrect password attempts') });
		expect(refused.err.split('P>')).toHaveLength(4);
		expect(await runOnce(head, line)).toMatchObject({ err: expect.stringContaining('no password was provided') });
		head.see().faults.sudo = 'refuses';
		expect((await runOnce(head, line, 'demo\n')).err).toContain('is not allowed to execute');
		expect(target.active).toBe('active');
		head.see().faults.sudo = 'asks';
		expect((await runOnce(head, line, 'demo\n')).code).toBe(0);
		head.see().faults.sudo = 'free';
		await until(
			() => target.active,
			(active) => active === 'inactive',
		);
		await answer(head, 'sudo -n systemctl start vllm-proxy');
	});
	test('several units are started by one line', async () => {
		const both = ['vllm-proxy', 'vllm-reranker'].map((name) => unit('system', name));
		const [one, other] = both as [Unit, Unit];
		await answer(head, 'sudo -n systemctl stop vllm-proxy vllm-reranker');
		expect(both.map(({ active }) => active)).toEqual(['inactive', 'inactive']);
		expect((await runs(startUnit('system', 1000, one.spec.name, other.spec.name).line)).code).toBe(0);
		await until(
			() => both.map(({ active }) => active),
			(states) => states.every((state) => state === 'active'),
		);
	});
	test('a name is never read by a shell as anything but a word', async () => {
		const evil = 'x\'; exit 0; echo $(hostname) `id` "\\ .service';
		const outcome = await runs(stopUnit('system', 1000, evil, 'abc').line);
		expect(outcome).toEqual({ code: GUARD_FAILED, out: '', err: '' });
		expect((await runs(startUnit('user', 1000, evil).line)).err).toContain(`Unit ${evil} not found.`);
	});
	test('a container that stands alone', async () => {
		const container = [...head.see().containers.values()].find((one) => one.spec.name === 'nccl-test')!;
		expect(await runs(startContainer('docker', container.id).line)).toMatchObject({
			code: 0,
			out: `${container.id}\n`,
		});
		expect(container.running).toBe(true);
		expect(await runs(stopContainer('docker', container.id).line)).toMatchObject({ code: 0, out: `${container.id}\n` });
		expect(container.running).toBe(false);
		expect((await runs(stopContainer('docker', 'f'.repeat(64)).line)).err).toMatch(/No such container/);
		expect((await runs(stopContainer('podman', container.id).line)).code).toBe(127);
	});
	test('exactly that process, and only of that boot', async () => {
		head.see().faults.sticky.add('user/vllm-embeddings.service');
		await answer(head, 'systemctl --user stop vllm-embeddings');
		const find = (): Proc | undefined =>
			[...head.see().procs.values()].find((proc) => proc.gpuType === 'C' && proc.cgroup.includes('vllm-embeddings'));
		const orphan = find()!;
		const { bootId } = head.see();
		const ticks = startTicks(orphan);
		for (const line of [
			terminateProcess(orphan.pid, ticks + 1, bootId).line,
			terminateProcess(orphan.pid, ticks, bootId.replace(/^./, 'x')).line,
			terminateProcess(999_999, ticks, bootId).line,
		])
			expect((await runs(line)).code).toBe(GUARD_FAILED);
		expect(find()).toBeDefined();
		expect(await runs(terminateProcess(orphan.pid, ticks, bootId).line)).toEqual({ code: 0, out: '', err: '' });
		await until(find, (proc) => proc === undefined);
	});
});
