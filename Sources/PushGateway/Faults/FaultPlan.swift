import Foundation
import NIOSSL
import PushHTTP
import PushSupport
import PushTypes
import Synchronization

/// The fault rules of a gateway, and the number of matches of each.
///
/// Rules from the API exist until they are removed or the gateway stops. Those of a file or a flag exist again after
/// the next start. Without rules, a decision costs one relaxed atomic load.
final class FaultPlan: Sendable {
    /// The maximum number of rules in the plan. Adding more fails.
    static let limit = 100

    /// The origin of a fault rule: the start of the gateway, or the admin API.
    enum Source: String, CaseIterable, JSONRepresentable {
        /// The source of rules from the faults file and from command-line flags.
        case start
        case api
    }

    struct Entry: Hashable, Sendable {
        var rule: FaultRule
        var source: Source
        var seen = 0
        var hits = 0
    }

    private struct State {
        var entries: [Entry] = []
        var lastNumber = 0
    }

    private let state = Mutex(State())
    /// A bit for each ``FaultPoint`` that has a rule.
    private let points = Atomic<UInt8>(0)

    init() {}

    /// Creates a plan with the rules of command-line flags and of the faults file.
    /// - Throws: ``RequestError`` with the path of the invalid rule, such as `faults[2]`.
    init(starting rules: [FaultRule], now: Timestamp) throws(RequestError) {
        for (index, rule) in rules.enumerated() {
            do {
                _ = try self.add(rule, source: .start, now: now)
            } catch {
                var located = error
                located.path = ["faults[\(index)]", error.path].compactMap { $0 }.joined(separator: ".")
                throw located
            }
        }
    }

    /// Parses the rules of a file: `{"faults": [{…}, …]}`.
    /// - Throws: ``RequestError`` with the path of the invalid member, such as `faults[2].percent`.
    static func rules(json: Data) throws(RequestError) -> [FaultRule] {
        let fields = try JSONFields(parsing: json, known: ["faults"])
        guard case .array(let values) = fields.members["faults"] else { throw fields.wrongType("faults", "an array") }
        var rules: [FaultRule] = []
        for (index, value) in values.enumerated() {
            guard case .object(let members) = value else { throw fields.wrongType("faults[\(index)]", "an object") }
            rules.append(try FaultRule(members: members, path: "faults[\(index)]"))
        }
        return rules
    }

    /// Returns the rules in the order in which they are evaluated, without the expired ones.
    func entries(now: Timestamp) -> [Entry] {
        self.state.withLock { state in
            self.removeExpired(from: &state, now: now)
            return state.entries
        }
    }

    /// Adds a rule.
    /// - Returns: The rule with its id.
    /// - Throws: ``RequestError`` if the plan is full, the id is in use, or the rule has expired.
    func add(_ rule: FaultRule, source: Source, now: Timestamp) throws(RequestError) -> FaultRule {
        try self.state.withLock { (state) throws(RequestError) in
            self.removeExpired(from: &state, now: now)
            guard state.entries.count < Self.limit else {
                throw RequestError(.conflict, code: "too_many_faults", message: "at most \(Self.limit) faults at once")
            }
            if let until = rule.match.until, until <= now {
                throw RequestError(.invalid, code: "invalid_value", message: "this time has passed", path: "untilMs")
            }
            var rule = rule
            while rule.id.isEmpty {
                state.lastNumber += 1
                let id = "fault-\(state.lastNumber)"
                if !state.entries.contains(where: { $0.rule.id == id }) { rule.id = id }
            }
            guard !state.entries.contains(where: { $0.rule.id == rule.id }) else {
                throw RequestError(.conflict, code: "id_taken", message: "another fault has this id", path: "id")
            }
            state.entries.append(Entry(rule: rule, source: source))
            self.updatePoints(of: state)
            return rule
        }
    }

    /// Removes a rule.
    /// - Returns: Whether the rule existed.
    func remove(_ id: String) -> Bool {
        self.state.withLock { state in
            let count = state.entries.count
            state.entries.removeAll { $0.rule.id == id }
            self.updatePoints(of: state)
            return state.entries.count < count
        }
    }

    func removeAll() {
        self.state.withLock { state in
            state.entries = []
            self.updatePoints(of: state)
        }
    }

    /// Returns the faults that apply to a subject, or `nil` if there are none. Percentages are decided by the system's
    /// random number generator.
    func decide(
        at point: FaultPoint,
        for subject: @autoclosure () -> FaultSubject,
        now: @autoclosure () -> Timestamp
    ) -> FaultDecision? {
        var random = SystemRandomNumberGenerator()
        return self.decide(at: point, for: subject(), random: &random, now: now())
    }

    /// Returns the faults that apply to a subject, or `nil` if there are none. The subject is not evaluated unless a
    /// rule is about `point`.
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
                guard rule.action.point == point, rule.action.listeners.contains(subject.listener),
                    rule.action.isDue(at: subject.ordinal), rule.match.matches(subject)
                else { continue }
                state.entries[index].seen += 1
                let (seen, hits) = (state.entries[index].seen, state.entries[index].hits)
                guard rule.match.applies(seen: seen, hits: hits, random: &random),
                    decision.add(rule.action, random: &random)
                else { continue }
                state.entries[index].hits += 1
                decision.rules.append(rule.id)
            }
            return decision.rules.isEmpty ? nil : decision
        }
    }

    private func removeExpired(from state: inout State, now: Timestamp) {
        state.entries.removeAll { $0.rule.match.until.map { $0 <= now } ?? false }
        self.updatePoints(of: state)
    }

    private func updatePoints(of state: State) {
        self.points.store(state.entries.reduce(0) { $0 | $1.rule.action.point.bit }, ordering: .relaxed)
    }
}

extension FaultPoint {
    fileprivate var bit: UInt8 { 1 << self.rawValue }
}

/// The source of faults for one listener's new connections, which apply from the first byte on.
struct ListenerFaultPlan: Sendable {
    let plan: FaultPlan
    let listener: FaultListener
    let environment: PushEnvironment
    let expiredTLS: NIOSSLContext
    let time: any TimeSource

    /// Returns the faults of a connection that is being accepted, when only the listener is known, or `nil` if there
    /// are none.
    func decide() -> FaultDecision? {
        let subject = FaultSubject(listener: self.listener, environment: self.environment)
        return self.plan.decide(at: .connection, for: subject, now: self.time.now)
    }
}

extension GatewayConfiguration {
    /// Parses the faults of command-line flags and of the faults file.
    /// - Throws: ``GatewayError`` with the invalid fault.
    func faultRules() throws -> [FaultRule] {
        var rules: [FaultRule] = []
        for text in self.faults {
            do {
                rules.append(try FaultRule(text: text))
            } catch {
                throw GatewayError.badFault(text, why: Self.text(of: error))
            }
        }
        guard let file = self.faultsFile else { return rules }
        let content: Data
        do {
            content = try Data(contentsOf: URL(filePath: file))
        } catch {
            throw GatewayError.badFile(path: file, why: ErrorDescription.of(error))
        }
        if let (line, column) = JSONValue.errorPosition(in: content) {
            throw GatewayError.badFile(path: file, why: "line \(line), column \(column) is not valid JSON in UTF-8")
        }
        do {
            return rules + (try FaultPlan.rules(json: content))
        } catch {
            throw GatewayError.badFile(path: file, why: Self.text(of: error))
        }
    }

    private static func text(of error: RequestError) -> String {
        [error.path, error.message].compactMap { $0 }.joined(separator: ": ")
    }
}
