import MartletKit
import PushSupport
import Synchronization

/// Hands events on to the user and to commands that wait for them.
final class EventLog: Sendable {
    private let tally: EventTally
    private let print: @Sendable (SimulatorEvent) -> Void
    private let state = Mutex((install: 0, problem: String?.none))

    init(tally: EventTally, print: @escaping @Sendable (SimulatorEvent) -> Void) {
        (self.tally, self.print) = (tally, print)
    }

    /// The text of the last problem; `nil` for none.
    var lastProblem: String? { self.state.withLock { $0.problem } }

    /// Sets the installation of the app whose library is heard.
    func current(install: Int) { self.state.withLock { $0.install = install } }

    func report(_ event: SimulatorEvent) {
        if event.name == .problem { self.state.withLock { $0.problem = event.lines.first } }
        self.print(event)
        self.tally.record(event)
    }

    func report(_ events: [PhoneEvent]) { for event in events { self.report(SimulatorEvent(event)) } }

    func problem(_ text: String) { self.report(SimulatorEvent(.problem, text, ["problem": text.json])) }

    /// Reports what the library of the app tells. An app that is removed is not heard any more.
    func report(_ event: Martlet.Event, install: Int) {
        guard self.state.withLock({ $0.install == install }) else { return }
        switch event {
        case .registered(let kind):
            self.report(
                SimulatorEvent(.registered, "the provider has the \(kind.rawValue) token", ["kind": kind.rawValue.json])
            )
        case .receiptsSent(let count):
            let text = count == 1 ? "1 is with the provider" : "\(count) are with the provider"
            var event = SimulatorEvent(.receipts, text, ["sent": .integer(Int64(count))])
            event.count = count
            self.report(event)
        default: self.problem(event.description)
        }
    }
}
