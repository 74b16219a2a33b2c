import MartletKit
import PushSupport
import Synchronization

/// The log of a phone's events. It prints events and counts them for the command `wait`.
final class SimulatorEventLog: Sendable {
    let tally: EventTally
    private let print: @Sendable (SimulatorEvent) -> Void
    private let state = Mutex(State())

    private struct State {
        var install = 0
        var problem: String?
        var unconfirmed: Set<String> = []
        /// The kinds of tokens that the provider has confirmed and whose registration was not reported yet.
        var confirmed: [String] = []
    }

    init(tally: EventTally, print: @escaping @Sendable (SimulatorEvent) -> Void) {
        (self.tally, self.print) = (tally, print)
    }

    /// The text of the last problem, which the error of a failed wait contains, or `nil` if none has occurred.
    var lastProblem: String? { self.state.withLock { $0.problem } }

    /// Sets the number of the app's current installation. Only its events are reported from then on.
    func current(install: Int) { self.state.withLock { $0.install = install } }

    /// Records a launch of the app with the kinds of its tokens. The registration is reported only when all of them are
    /// confirmed.
    func launched(registering kinds: [MartletKit.TokenKind]) {
        self.state.withLock { ($0.unconfirmed, $0.confirmed) = (Set(kinds.map(\.rawValue)), []) }
    }

    /// Changes the kind under which the token for Live Activities is expected, if the launch still waits for it.
    func expect(_ kind: MartletKit.TokenKind) {
        self.state.withLock { state in
            let earlier = state.unconfirmed.filter { $0 != MartletKit.TokenKind.alert.rawValue }
            guard !earlier.isEmpty else { return }
            state.unconfirmed.subtract(earlier)
            state.unconfirmed.insert(kind.rawValue)
        }
    }

    /// Reports the registration at a launch when the provider already has all tokens, unless it was reported before.
    func confirmed() {
        let isNew = self.state.withLock { state in
            defer { (state.unconfirmed, state.confirmed) = ([], []) }
            return !state.unconfirmed.isEmpty
        }
        // Nothing is sent in this case, and a pending `wait` must still complete.
        if isNew { self.report(SimulatorEvent(.registered, "the provider has this installation already")) }
    }

    /// Stops waiting for a token of this kind, which the phone does not receive, and reports the registration.
    func abandon(_ kind: MartletKit.TokenKind) {
        self.reportRegistration {
            $0.unconfirmed.remove(kind.rawValue)
            return !$0.confirmed.isEmpty
        }
    }

    /// Stops waiting for tokens that the provider refuses, and reports the registration without them.
    /// - Parameter member: The member of the request that the provider refuses, or `nil` for the whole request. Only
    ///   the refusal of a member that concerns tokens has an effect.
    private func refused(_ member: String?) {
        guard let member, ["token", "kind", "environment", "activity"].contains(member) else { return }
        self.reportRegistration { state in
            state.unconfirmed.formIntersection(state.confirmed.isEmpty ? [MartletKit.TokenKind.alert.rawValue] : [])
            return !state.confirmed.isEmpty
        }
    }

    func report(_ event: SimulatorEvent) {
        if event.name == .problem { self.state.withLock { $0.problem = event.lines.first } }
        self.print(event)
        self.tally.record(event)
    }

    func report(_ events: [PhoneEvent]) { for event in events { self.report(SimulatorEvent(event)) } }

    func problem(_ text: String) { self.report(SimulatorEvent(.problem, text, ["problem": text.json])) }

    /// Records a token that the provider has confirmed, and reports the registration unless other tokens of the launch
    /// are missing.
    private func confirm(_ kind: MartletKit.TokenKind) {
        self.reportRegistration { state in
            state.unconfirmed.remove(kind.rawValue)
            if !state.confirmed.contains(kind.rawValue) { state.confirmed.append(kind.rawValue) }
            return true
        }
    }

    /// Changes the state, and reports the confirmed tokens unless others are missing.
    /// - Parameter change: A closure that changes the state and returns `false` if there is nothing to report.
    private func reportRegistration(_ change: (inout State) -> Bool) {
        let kinds = self.state.withLock { state -> [String] in
            guard change(&state), state.unconfirmed.isEmpty else { return [] }
            defer { state.confirmed = [] }
            return state.confirmed
        }
        guard !kinds.isEmpty else { return }
        let noun = kinds.count == 1 ? "token" : "tokens"
        self.report(
            SimulatorEvent(
                .registered,
                "the provider has the \(kinds.joined(separator: " and ")) \(noun)",
                ["kinds": .array(kinds.map { .string($0) })]
            )
        )
    }

    /// Waits for `count` events that no earlier wait has consumed.
    /// - Throws: ``WaitError`` if fewer events occur within `seconds`, and `CancellationError`.
    func wait(for name: SimulatorEvent.Name, count: Int, seconds: Int) async throws {
        let tally = self.tally
        let isComplete = try? await withTimeLimit(.seconds(seconds)) { await tally.wait(for: count, name) }
        guard isComplete != true else { return }
        try Task.checkCancellation()
        throw WaitError(name: name, count: count, seconds: seconds, present: tally.count(of: name), self.lastProblem)
    }

    /// Reports an event of MartletKit. Events of a removed installation are ignored.
    func report(_ event: Martlet.Event, install: Int) {
        guard self.state.withLock({ $0.install == install }) else { return }
        switch event {
        case .registered(let kind): self.confirm(kind)
        case .receiptsSent(let count):
            let text = count == 1 ? "1 is with the provider" : "\(count) are with the provider"
            var event = SimulatorEvent(.receipts, text, ["sent": .integer(Int64(count))])
            event.count = count
            self.report(event)
        case .refused(let member, _, _):
            self.problem(event.description)
            self.refused(member)
        default: self.problem(event.description)
        }
    }
}

/// The error of a wait that timed out.
package struct WaitError: Error, CustomStringConvertible {
    package let description: String

    init(name: SimulatorEvent.Name, count: Int, seconds: Int, present: Int, _ problem: String?) {
        let last = problem.map { "; the last problem: \($0)" } ?? ""
        self.description = "\(present) of \(count) events '\(name.rawValue)' within \(seconds) s\(last)"
    }
}
