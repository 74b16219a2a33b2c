import Foundation
import PushSupport
import PushTypes
import Synchronization

/// The rules by which this gateway misbehaves on command, and how often each has struck.
///
/// Rules that were given by the API live until they are removed or the gateway ends; those of a file or a flag come back
/// with the next start. Without rules a look at it costs one relaxed load.
final class FaultPlan: Sendable {
    /// Rules at one time.
    static let limit = 100

    /// Where a rule came from.
    enum Source: String, Sendable {
        /// A file or a flag.
        case start
        case api
    }

    struct Entry: Hashable, Sendable {
        var rule: FaultRule
        var source: Source
        /// Requests, messages or connections that it covered.
        var seen = 0
        /// Those that it met.
        var hits = 0
    }

    private struct State {
        var entries: [Entry] = []
        var lastNumber = 0
    }

    private let state = Mutex(State())
    /// One bit for each ``FaultPoint`` that a rule is about.
    private let points = Atomic<UInt8>(0)

    /// Without rules.
    init() {}

    /// - Throws: ``RequestError`` that names the rule at fault, as `faults[2]`.
    init(starting rules: [FaultRule], now: Timestamp) throws(RequestError) {
        for (index, rule) in rules.enumerated() {
            do {
                _ = try self.add(rule, source: .start, now: now)
            } catch {
                var refusal = error
                refusal.path = ["faults[\(index)]", refusal.path].compactMap { $0 }.joined(separator: ".")
                throw refusal
            }
        }
    }

    /// The rules of a file: `{"faults": [{…}, …]}`.
    /// - Throws: ``RequestError`` that names the member at fault, as `faults[2].percent`.
    static func rules(json: Data) throws(RequestError) -> [FaultRule] {
        let fields = try JSONFields(parsing: json, known: ["faults"])
        guard case .array(let values) = fields.members["faults"] else { throw fields.wrongType("faults", "an array") }
        var rules: [FaultRule] = []
        for (index, value) in values.enumerated() {
            guard case .object(let members) = value else {
                throw fields.wrongType("faults[\(index)]", "an object")
            }
            rules.append(try FaultRule(members: members, path: "faults[\(index)]"))
        }
        return rules
    }

    /// In the order in which they are asked. Those whose time is over are gone.
    func entries(now: Timestamp) -> [Entry] {
        self.state.withLock { state in
            self.removeExpired(from: &state, now: now)
            return state.entries
        }
    }

    /// The rule with its id.
    func add(_ rule: FaultRule, source: Source, now: Timestamp) throws(RequestError) -> FaultRule {
        try self.state.withLock { (state) throws(RequestError) in
            self.removeExpired(from: &state, now: now)
            guard state.entries.count < Self.limit else {
                throw RequestError(
                    .conflict,
                    code: "too_many_faults",
                    message: "at most \(Self.limit) faults at once"
                )
            }
            if let until = rule.match.until, until <= now {
                throw RequestError(.invalid, code: "invalid_value", message: "this time is over", path: "untilMs")
            }
            var rule = rule
            while rule.id.isEmpty {
                state.lastNumber += 1
                let id = "fault-\(state.lastNumber)"
                if !state.entries.contains(where: { $0.rule.id == id }) { rule.id = id }
            }
            guard !state.entries.contains(where: { $0.rule.id == rule.id }) else {
                throw RequestError(.conflict, code: "id_taken", message: "there is a fault with this id", path: "id")
            }
            state.entries.append(Entry(rule: rule, source: source))
            self.notePoints(of: state)
            return rule
        }
    }

    /// Whether it was there.
    func remove(_ id: String) -> Bool {
        self.state.withLock { state in
            let count = state.entries.count
            state.entries.removeAll { $0.rule.id == id }
            self.notePoints(of: state)
            return state.entries.count < count
        }
    }

    func removeAll() {
        self.state.withLock { state in
            state.entries = []
            self.notePoints(of: state)
        }
    }

    /// What to do wrong with `subject`; `nil` for nothing, which is all that happens where no rule is about `point`.
    func decide(
        at point: FaultPoint,
        for subject: @autoclosure () -> FaultSubject,
        random: inout some RandomNumberGenerator,
        now: @autoclosure () -> Timestamp
    ) -> FaultDecision? {
        guard self.points.load(ordering: .relaxed) & point.bit != 0 else { return nil }
        let (subject, now) = (subject(), now())
        return self.state.withLock { state in
            self.removeExpired(from: &state, now: now)
            var decision = FaultDecision()
            for index in state.entries.indices {
                let rule = state.entries[index].rule
                guard rule.action.point == point, rule.action.doors.contains(subject.door),
                    rule.action.isDue(at: subject.ordinal), rule.match.covers(subject)
                else { continue }
                state.entries[index].seen += 1
                let (seen, hits) = (state.entries[index].seen, state.entries[index].hits)
                guard rule.match.strikes(seen: seen, hits: hits, random: &random),
                    decision.take(rule.action, random: &random)
                else { continue }
                state.entries[index].hits += 1
                decision.rules.append(rule.id)
            }
            return decision.rules.isEmpty ? nil : decision
        }
    }

    private func removeExpired(from state: inout State, now: Timestamp) {
        state.entries.removeAll { $0.rule.match.until.map { $0 <= now } ?? false }
        self.notePoints(of: state)
    }

    private func notePoints(of state: State) {
        self.points.store(state.entries.reduce(0) { $0 | $1.rule.action.point.bit }, ordering: .relaxed)
    }
}

extension FaultPoint {
    fileprivate var bit: UInt8 { 1 << self.rawValue }
}
