import PushSupport
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
        private var client: UInt8 = 0

        var isOpen: Bool { self.breaker.isOpen }

        func admit() -> PublisherBreaker.Admission { self.breaker.admit(at: self.time.steady) }
        func succeed() { self.breaker.succeeded() }
        func skip() { self.breaker.notAsked(at: self.time.steady) }
        func wait(_ duration: Duration) { self.time.advance(by: duration) }

        /// Returns `true` if the last failure opened it.
        @discardableResult
        func fail(times: Int = 1, clients: UInt8 = 3) -> Bool {
            (0..<times).reduce(false) { _, _ in
                self.client = (self.client + 1) % clients
                return self.fail(at: [192, 0, 2, self.client])
            }
        }

        /// - Parameter network: The network of the client whose question failed; `nil` for one at a proxy.
        func fail(at network: [UInt8]?) -> Bool {
            let site = network.map { PublisherBreaker.Site(.network($0)) }
            return self.breaker.failed(.question(site), at: self.time.steady)
        }

        /// Returns `true` if the last silence opened it.
        func silence(times: Int) -> Bool {
            (0..<times).reduce(false) { _, _ in self.breaker.failed(.connection, at: self.time.steady) }
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

    @Test func aQuestionThatIsNotAskedFindsNothingOut() {
        self.subject.fail(times: 4)
        self.subject.skip()
        #expect(!self.subject.isOpen)
        #expect(self.subject.fail())
        self.subject.wait(.seconds(10))
        #expect(self.subject.admit() == .ask)
        #expect(self.subject.admit() == .wait(.seconds(10)))
        self.subject.skip()
        #expect(self.subject.isOpen)
        #expect(self.subject.admit() == .ask)
        self.subject.succeed()
        #expect(!self.subject.isOpen)
    }

    /// What one client makes up is its own harm.
    @Test func oneClientAloneDoesNotOpenIt() {
        self.subject.fail(times: 1000, clients: 1)
        #expect(!self.subject.isOpen && self.subject.admit() == .ask)
        self.subject.fail(times: 10, clients: 2)
        #expect(!self.subject.isOpen)
        self.subject.fail(times: 3, clients: 3)
        #expect(self.subject.isOpen)
    }

    /// One customer has as many networks of IPv6 as it likes.
    @Test func networksOfOneSiteAreOne() {
        func network(_ site: UInt8, _ number: Int) -> [UInt8] { [0x20, 0x01, 0x0d, 0xb8, 0, site, 0, UInt8(number)] }
        for number in 0..<200 { #expect(!self.subject.fail(at: network(1, number))) }
        #expect(!self.subject.fail(at: network(2, 0)))
        #expect(self.subject.fail(at: network(3, 0)))
    }

    /// Behind a proxy all are one.
    @Test func aServerThatIsSilentOpensItWhoeverAsks() {
        for _ in 0..<200 { #expect(!self.subject.fail(at: nil)) }
        #expect(!self.subject.silence(times: 4))
        // It was heard of in between.
        #expect(!self.subject.fail(at: nil))
        #expect(!self.subject.silence(times: 4))
        self.subject.succeed()
        #expect(!self.subject.silence(times: 4))
        #expect(self.subject.silence(times: 1))
        #expect(self.subject.isOpen && self.subject.admit() == .wait(.seconds(10)))
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
