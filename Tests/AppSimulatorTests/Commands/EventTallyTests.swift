import PushTesting
import Testing

@testable import AppSimulator

@Suite("Waiting for events", .timeLimit(.patience)) struct EventTallyTests {
    private let tally = EventTally()

    private func shown(_ count: Int = 1) -> SimulatorEvent {
        var event = SimulatorEvent(.shown, "x")
        event.count = count
        return event
    }

    @Test("An event counts for one wait only")
    func taken() async {
        self.tally.record(self.shown(3))
        #expect(await self.tally.wait(for: 2, .shown))
        #expect(self.tally.count(of: .shown) == 1)
    }

    @Test("A wait ends with the event that completes it")
    func later() async {
        self.tally.record(self.shown())
        async let isComplete = self.tally.wait(for: 3, .shown)
        self.tally.record(SimulatorEvent(.opened, "x"))
        self.tally.record(self.shown())
        self.tally.record(self.shown(2))
        #expect(await isComplete)
        #expect(self.tally.count(of: .shown) == 1)
    }

    @Test("A wait that is cancelled takes nothing")
    func cancelled() async {
        self.tally.record(self.shown())
        let wait = Task { await self.tally.wait(for: 2, .shown) }
        wait.cancel()
        #expect(await wait.value == false)
        #expect(self.tally.count(of: .shown) == 1)
    }
}
