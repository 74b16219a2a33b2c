import PushTesting
import PushTypes
import Testing

@testable import PushProvider

/// The breaker between the provider and a publisher's server.
@Suite struct PublisherBreakerTests {
    /// A breaker with a manual clock.
    private final class Subject {
        private var breaker = PublisherBreaker()
        private let time = ManualTime()

        var isOpen: Bool { self.breaker.isOpen }

        func admit() -> PublisherBreaker.Admission { self.breaker.admit(at: self.time.steady) }
        func succeed() { self.breaker.succeeded() }
        func wait(_ duration: Duration) { self.time.advance(by: duration) }

        /// Returns `true` if the last failure opened it.
        @discardableResult
        func fail(times: Int = 1) -> Bool {
            (0..<times).reduce(false) { _, _ in self.breaker.failed(at: self.time.steady) }
        }
    }

    private let subject = Subject()

    @Test func failuresInARowOpenIt() {
        self.subject.fail(times: 4)
        self.subject.succeed()
        self.subject.fail(times: 4)
        #expect(self.subject.admit() == .ask)
        #expect(self.subject.fail())
        #expect(self.subject.isOpen)
        #expect(self.subject.admit() == .wait(.seconds(10)))
        self.subject.wait(.seconds(4))
        #expect(self.subject.admit() == .wait(.seconds(6)))
    }

    @Test func oneProbeClosesIt() {
        self.subject.fail(times: 5)
        self.subject.wait(.seconds(10))
        #expect(self.subject.admit() == .ask)
        // The others wait for its end.
        #expect(self.subject.admit() == .wait(.seconds(10)))
        self.subject.succeed()
        #expect(!self.subject.isOpen)
        #expect(self.subject.admit() == .ask)
        self.subject.fail(times: 4)
        #expect(!self.subject.isOpen)
    }

    @Test func failedProbesDoubleThePause() {
        self.subject.fail(times: 5)
        for seconds in [10, 20, 40, 80, 160, 300, 300] {
            #expect(self.subject.admit() == .wait(.seconds(seconds)))
            self.subject.wait(.seconds(seconds))
            #expect(self.subject.admit() == .ask)
            #expect(!self.subject.fail())
        }
    }

    /// Questions that were under way when it opened end later.
    @Test func lateFailuresChangeNothing() {
        self.subject.fail(times: 5)
        self.subject.wait(.seconds(5))
        self.subject.fail(times: 20)
        #expect(self.subject.admit() == .wait(.seconds(5)))
        self.subject.succeed()
        #expect(self.subject.admit() == .ask)
    }
}
