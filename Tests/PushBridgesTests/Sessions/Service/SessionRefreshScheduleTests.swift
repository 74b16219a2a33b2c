import PushTypes
import Testing

@testable import PushBridges

/// The times at which the sessions are read from the store.
@Suite struct SessionRefreshScheduleTests {
    private let start = Timestamp(seconds: 1_700_000_000)
    private let journal = Duration.seconds(5)

    /// Returns a time after the start.
    private func after(_ milliseconds: Int) -> Timestamp { self.start.advanced(by: .milliseconds(milliseconds)) }

    private func readings() -> SessionRefreshSchedule {
        SessionRefreshSchedule(interval: .seconds(30), pause: .milliseconds(500), now: self.start)
    }

    @Test func theFirstReadingIsAtOnce() { #expect(self.readings().isDue(now: self.start, isChanged: false)) }

    /// Before, each deletion of a user made the service read the sessions of all.
    @Test func changesShareAReading() {
        var readings = self.readings()
        readings.end(now: self.start)
        #expect(!readings.isDue(now: self.after(0), isChanged: true))
        #expect(!readings.isDue(now: self.after(499), isChanged: true))
        #expect(readings.isDue(now: self.after(500), isChanged: true))
        // Where nothing has changed for some time, a change is read at once.
        #expect(!readings.isDue(now: self.after(9_000), isChanged: false))
        #expect(readings.isDue(now: self.after(9_000), isChanged: true))
        #expect(readings.isDue(now: self.after(30_000), isChanged: false))
    }

    @Test func aChangeThatCameTooEarlyIsWaitedFor() {
        var readings = self.readings()
        readings.end(now: self.start)
        #expect(readings.wait(now: self.after(100), isChanged: true, atMost: self.journal) == .milliseconds(400))
        #expect(readings.wait(now: self.after(100), isChanged: false, atMost: self.journal) == self.journal)
        #expect(readings.wait(now: self.after(100), isChanged: true, atMost: .milliseconds(20)) == .milliseconds(20))
        #expect(readings.wait(now: self.after(700), isChanged: true, atMost: self.journal) == .zero)
    }
}
