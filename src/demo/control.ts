import type { Machine } from './machine.ts';
import type { Valve } from './valve.ts';
import { crashUnit, unitOf } from './worldLife.ts';
import { keyOf, type Unit } from './worldTypes.ts';

/** What may go wrong with a host, at somebody's word. */
export type Knobs = ReadonlyMap<string, { readonly machine: Machine; readonly valve: Valve; cut: boolean }>;
type Knob = NonNullable<ReturnType<Knobs['get']>>;

const open = ({ machine, valve, cut }: Knob): void => valve.set(!cut && !machine.see().faults.frozen);

const HOST_KNOBS: Readonly<Record<string, (knob: Knob) => void>> = {
	freeze: (knob) => {
		knob.machine.see().faults.frozen = true;
		open(knob);
	},
	thaw: (knob) => {
		knob.machine.see().faults.frozen = false;
		open(knob);
	},
	cut: (knob) => {
		knob.cut = true;
		open(knob);
	},
	heal: (knob) => {
		knob.cut = false;
		open(knob);
	},
	drop: ({ valve }) => valve.drop(),
	deny: ({ machine }) => {
		machine.see().faults.sudo = 'refuses';
	},
	'ask-password': ({ machine }) => {
		machine.see().faults.sudo = 'asks';
	},
	allow: ({ machine }) => {
		machine.see().faults.sudo = 'free';
	},
	'hang-gpu': ({ machine }) => {
		machine.see().faults.gpuHung = true;
	},
	'unhang-gpu': ({ machine }) =>
		machine.act(({ faults }) => {
			faults.gpuHung = false;
		}),
};

const UNIT_KNOBS: Readonly<Record<string, (knob: Knob, unit: Unit) => void>> = {
	stick: ({ machine }, { spec }) => machine.see().faults.sticky.add(keyOf(spec.manager, spec.name)),
	crash: ({ machine }, unit) => machine.act((host) => crashUnit(host, unit, 'code=killed ; status=9/KILL', 'signal')),
};

/** `ok: …`, or `error: …` with what is known. */
export const turnKnob = (knobs: Knobs, line: string): string => {
	const [verb = '', name = '', unitName = '', ...more] = line.trim().split(/\s+/);
	const knob = knobs.get(name);
	const known = [...Object.keys(HOST_KNOBS), ...Object.keys(UNIT_KNOBS).map((one) => `${one} HOST UNIT`)].join(', ');
	const ofHost = Object.hasOwn(HOST_KNOBS, verb) ? HOST_KNOBS[verb] : undefined;
	const ofUnit = Object.hasOwn(UNIT_KNOBS, verb) ? UNIT_KNOBS[verb] : undefined;
	if (!ofHost && !ofUnit) return `error: unknown word ${JSON.stringify(verb)}; known: ${known}`;
	if (!knob) return `error: unknown host ${JSON.stringify(name)}; known: ${[...knobs.keys()].join(', ')}`;
	if (more.length > 0 || (ofHost && unitName !== '')) return `error: too many words in ${JSON.stringify(line.trim())}`;
	if (ofHost) {
		ofHost(knob);
		return `ok: ${verb} ${name}`;
	}
	const host = knob.machine.see();
	const unit = unitOf(host, 'system', unitName) ?? unitOf(host, 'user', unitName);
	if (!unit || unitName === '') return `error: ${name} has no unit ${JSON.stringify(unitName)}`;
	ofUnit!(knob, unit);
	return `ok: ${verb} ${name} ${unit.spec.name}`;
};
