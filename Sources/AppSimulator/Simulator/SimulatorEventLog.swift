import MartletKit
import PushSupport
import Synchronization

/// Hands events on to the user and to commands that wait for them.
final class SimulatorEventLog: Sendable {
    let tally: EventTally
    private let print: @Sendable (SimulatorEvent) -> Void
    private let state = Mutex(State())

    private struct State {
        /// The installation whose library is listened to.
        var install = 0
        var problem: String?
        /// The kinds of tokens of the launch that the provider has not confirmed yet.
        var unconfirmed: Set<String> = []
        /// The kinds that it has confirmed since the last report.
        var confirmed: [String] = []
    }

    init(tally: EventTally, print: @escaping @Sendable (SimulatorEvent) -> Void) {
        (self.tally, self.print) = (tally, print)
    }

    /// The text of the last problem; `nil` for none.
    var lastProblem: String? { self.state.withLock { $0.problem } }

    /// Sets the installation of the app whose events are reported.
    func current(install: Int) { self.state.withLock { $0.install = install } }

    /// Notes a launch of the app with its tokens. Their registration is reported once, when the provider has them all.
    func launched(registering kinds: [MartletKit.TokenKind]) {
        self.state.withLock { ($0.unconfirmed, $0.confirmed) = (Set(kinds.map(\.rawValue)), []) }
    }

    /// Notes the kind of the token for Live Activities, if the registration of the launch still waits for that token.
    func expect(_ kind: MartletKit.TokenKind) {
        self.state.withLock { state in
            let earlier = state.unconfirmed.filter { $0 != MartletKit.TokenKind.alert.rawValue }
            guard !earlier.isEmpty else { return }
            state.unconfirmed.subtract(earlier)
            state.unconfirmed.insert(kind.rawValue)
        }
    }

    /// Reports the registration of the launch, unless that was done, for a provider that has all tokens.
    func confirmed() {
        let isNew = self.state.withLock { state in
            defer { (state.unconfirmed, state.confirmed) = ([], []) }
            return !state.unconfirmed.isEmpty
        }
        // Nothing is sent then, and a pending `wait` must still complete.
        if isNew { self.report(SimulatorEvent(.registered, "the provider has this installation already")) }
    }

    /// Reports the registration of the launch without a kind that the phone has no token of, once the others are confirmed.
    func abandon(_ kind: MartletKit.TokenKind) {
        self.reportRegistration {
            $0.unconfirmed.remove(kind.rawValue)
            return !$0.confirmed.isEmpty
        }
    }

    /// Reports the registration of the launch without the tokens that the provider refuses.
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

    /// Notes a token that the provider has, and reports the registration unless other tokens of the launch are missing.
    private func confirm(_ kind: MartletKit.TokenKind) {
        self.reportRegistration { state in
            state.unconfirmed.remove(kind.rawValue)
            if !state.confirmed.contains(kind.rawValue) { state.confirmed.append(kind.rawValue) }
            return true
        }
    }

    /// Reports the confirmed tokens after a change, unless others are missing.
    /// - Parameter change: Returns `false` if there is nothing to report.
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

    /// Reports an event of the app's library. Nothing is reported of an app that is removed.
    func report(_ event: Martlet.Event, install: Int) {
        guard self.state.withLock({ $0.install == install }) else { return }
        switch event {
        case .registered(let kind):
            self.confirm(kind)
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
