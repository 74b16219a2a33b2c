import Foundation
import NIOCore
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTesting
import PushTypes
import Synchronization
import Testing

@testable import PushProvider

/// Random registrations, deletions and responses beside several campaigns: the invariants of recipients.
@Suite(.timeLimit(.patience)) struct ChurnSoakTests {
    @Test(arguments: StoreBackend.available, [2, 5, 7, 10, 11, 12, 50] as [UInt64])
    func recipientIDsAreReversible(backend: StoreBackend, seed: UInt64) async throws {
        var breaker = CircuitBreaker.Limits()
        breaker.minimum = .max
        try await DispatchFixture.run(backend, page: 3, environments: [.sandbox, .production], breaker: breaker) {
            let soak = ChurnSoak($0, seed: seed)
            try await soak.run()
            try await soak.judge()
        }
    }
}

/// One run. Phones have an installation and tokens of their own; other tokens go from hand to hand.
private final class ChurnSoak: Sendable {
    private struct Push: Hashable {
        var payload: String
        var token: DeviceToken
    }

    private struct State {
        var generator: SeededGenerator
        var isCalm = false
        var isNested = false
        var accepted: [Push: Int] = [:]
        var notifications: [NotificationRecord] = []
    }

    private let fixture: DispatchFixture
    private let dispatcher: Dispatcher
    private let state: Mutex<State>
    /// Registered all the time, with tokens of their own.
    private let steadfast = 901...904

    init(_ fixture: DispatchFixture, seed: UInt64) {
        (self.fixture, self.dispatcher) = (fixture, fixture.dispatcher)
        self.state = Mutex(State(generator: SeededGenerator(seed: seed)))
    }

    private func random(_ range: Range<Int>) -> Int {
        self.state.withLock { Int.random(in: range, using: &$0.generator) }
    }

    func run() async throws {
        for phone in 1...10 { try await self.register(phone) }
        try await self.fixture.register(self.steadfast)
        self.fixture.sender.onSend { await self.answer($0) }
        for _ in 0..<150 {
            switch self.random(0..<20) {
            case 0: try await self.accept()
            case 1: self.fixture.time.advance(by: .seconds(self.random(1..<30_000)))
            case 2: try await self.changeState()
            case 3: while await self.fixture.scheduler.step() {}
            case 4..<11: try await self.churn()
            default: _ = try await self.dispatcher.step()
            }
        }
        self.state.withLock { $0.isCalm = true }
        for notification in self.state.withLock({ $0.notifications }) {
            _ = try await self.fixture.store.setState(.resume, of: notification.id, now: self.fixture.time.now)
        }
        for _ in 0..<40 {
            try await self.fixture.settle(self.dispatcher)
            self.fixture.time.advance(by: .seconds(3 * 3600))
        }
    }

    private func accept() async throws {
        let number = self.state.withLock { $0.notifications.count }
        guard number < 8 else { return }
        let local: JSONValue = ["localTime": "2023-11-17T09:00", "defaultTimeZone": "UTC"]
        let kinds: [[String: JSONValue]] = [
            [:], [:], ["environment": "production"], ["environment": "sandbox"], ["to": ["user": "alice"]],
            ["when": local],
        ]
        var members = kinds[self.random(0..<kinds.count)]
        members["alert"] = .string("\(number)")
        members["urgent"] = false
        members["guarantee"] = self.random(0..<2) == 0 ? "atMostOnce" : "atLeastOnce"
        let notification = try await self.fixture.accept(members)
        self.state.withLock { $0.notifications.append(notification) }
    }

    private func changeState() async throws {
        let known = self.state.withLock { $0.notifications }
        guard !known.isEmpty else { return }
        let change: StateChange =
            switch self.random(0..<8) {
            case 0: .cancel
            case 1...3: .pause(reason: nil)
            default: .resume
            }
        let id = known[self.random(0..<known.count)].id
        _ = try await self.fixture.store.setState(change, of: id, now: self.fixture.time.now)
    }

    private func churn() async throws {
        let phone = self.random(1..<13)
        if self.random(0..<4) > 0 { return try await self.register(phone) }
        let environment: PushEnvironment? = [nil, .sandbox, .production][self.random(0..<3)]
        let token = DeviceToken.numbered(self.token(of: phone))
        let (store, now) = (self.fixture.store, self.fixture.time.now)
        _ = try await store.deleteDevices(app: self.fixture.app, token: token, environment: environment, now: now)
    }

    private func token(of phone: Int) -> Int {
        self.random(0..<3) > 0 ? phone * 10 + self.random(0..<2) : self.random(1..<6)
    }

    private func register(_ phone: Int) async throws {
        var registration = DeviceRegistration(
            environment: self.random(0..<3) == 0 ? .production : .sandbox,
            token: .numbered(self.token(of: phone))
        )
        if phone < 9 { registration.installation = "\(phone)" }
        if self.random(0..<3) == 0 { registration.user = .set(["alice", "bob"][self.random(0..<2)]) }
        if self.random(0..<3) == 0 {
            registration.timeZone = .set(["Europe/Berlin", "Asia/Tokyo"][self.random(0..<2)])
        }
        _ = try await self.fixture.store.register([registration], app: self.fixture.app, now: self.fixture.time.now)
    }

    /// A push service whose responses change registrations.
    private func answer(_ push: ScriptedSender.Sent) async {
        let isFirst = self.state.withLock { state in
            defer { state.isNested = true }
            return !state.isNested && !state.isCalm
        }
        if isFirst {
            do {
                if self.random(0..<4) == 0 { try await self.churn() }
                if self.random(0..<6) == 0 { _ = try await self.dispatcher.step() }
                if self.random(0..<40) == 0 { try await self.changeState() }
            } catch { Issue.record("\(error)") }
            self.state.withLock { $0.isNested = false }
        }
        let isSteadfast = self.steadfast.contains { .numbered($0) == push.token }
        let answers: [Outcome] = [
            .refused(410, .unregistered, at: self.fixture.time.now), .refused(400, .badDeviceToken),
            .refused(503, .serviceUnavailable), .refused(503, .serviceUnavailable),
        ]
        let number = self.state.withLock { Int.random(in: 0..<($0.isCalm ? 40 : 10), using: &$0.generator) }
        if !isSteadfast, number < answers.count {
            self.fixture.sender.script(push.token, in: push.environment, answers[number])
        } else {
            let key = Push(payload: String(buffer: push.notification.payload), token: push.token)
            self.state.withLock { $0.accepted[key, default: 0] += 1 }
        }
    }

    func judge() async throws {
        let (accepted, known) = self.state.withLock { ($0.accepted, $0.notifications) }
        #expect(accepted.filter { $0.value > 1 }.isEmpty, "no token twice")
        for (index, notification) in known.enumerated() {
            // A device of both environments is two.
            for phone in 1...8 where notification.environment != nil {
                let sent = [phone * 10, phone * 10 + 1].map {
                    accepted[Push(payload: "{\"aps\":{\"alert\":\"\(index)\"}}", token: .numbered($0))] ?? 0
                }
                #expect(sent[0] + sent[1] <= 1, "no installation twice")
            }
            let end = try await self.fixture.progress(of: notification)
            let progress = end.progress
            #expect(end.state == .done || end.state == .cancelled)
            guard end.state == .done else { continue }
            #expect(
                progress.recipients == progress.accepted + progress.rejected + progress.failed + progress.skipped
                    + progress.unknown
            )
            guard notification.audience == .devices(.everyone), notification.environment != .production else {
                continue
            }
            let states = try await self.fixture.deliveries(of: notification)
            for number in self.steadfast {
                #expect(states.contains { $0.token == .numbered(number) && $0.state == .accepted }, "nobody is lost")
            }
        }
        _ = try await self.fixture.store.recover(now: self.fixture.time.now)
        let store = try #require(self.fixture.store as? SQLStore)
        #expect(try await store.checkIntegrity(isAtRest: true) == [])
    }
}
