import Foundation
import Synchronization

@testable import MartletKit

/// An app whose time, randomness and network are given.
final class TestApp: Sendable {
    static let start = Date(timeIntervalSince1970: 1_700_000_000)
    static let token = Data(repeating: 0xA1, count: 32)

    let storage: MemoryStorage
    let transport: ScriptedTransport
    let martlet: Martlet
    private let clock: TestTime
    /// What is reported, as it comes.
    let reported: AsyncStream<Martlet.Event>
    private let log: Log

    private let limits: Limits
    /// The times that callers were given to wait.
    var waits: [Duration] { self.limits.all }

    /// What was reported.
    final class Log: Sendable {
        private let events = Mutex<[Martlet.Event]>([])
        var all: [Martlet.Event] { self.events.withLock { $0 } }
        func add(_ event: Martlet.Event) { self.events.withLock { $0.append(event) } }
    }

    /// Times that were given to wait.
    final class Limits: Sendable {
        private let durations = Mutex<[Duration]>([])
        var all: [Duration] { self.durations.withLock { $0 } }
        func add(_ duration: Duration) { self.durations.withLock { $0.append(duration) } }
    }

    init(
        storage: MemoryStorage = MemoryStorage(),
        transport: ScriptedTransport = ScriptedTransport { .usual($0) },
        handler: (any NotificationHandler)? = nil,
        role: Martlet.Configuration.Role = .app,
        provider: String = "https://push.example.com",
        retries: Bool = false,
        endsWaits: Bool = false,
        receiveTimeout: Duration? = nil,
        at start: Date = TestApp.start
    ) throws {
        guard let url = URL(string: provider) else { throw URLError(.badURL) }
        var configuration = try Martlet.Configuration(provider: url, app: "com.example.App", key: "mk_public_x")
        configuration.environment = .production
        configuration.role = role
        configuration.receiveTimeout = receiveTimeout
        let (time, log) = (TestTime(start), Log())
        let (stream, reported) = AsyncStream<Martlet.Event>.makeStream()
        self.reported = stream
        (self.storage, self.transport, self.log) = (storage, transport, log)
        self.clock = time
        let limits = Limits()
        self.limits = limits
        var dependencies = Dependencies()
        dependencies.now = { time.now }
        // Tests ask for what is due themselves, unless they are about that.
        dependencies.sleep = { duration in
            guard retries else { throw CancellationError() }
            time.advance(by: Double(duration.components.seconds) + 1)
        }
        dependencies.wait = { duration in
            limits.add(duration)
            if !endsWaits { try await Task.sleep(for: .seconds(3600)) }
        }
        dependencies.random = { 1 }
        self.martlet = Martlet(
            configuration,
            storage,
            transport,
            handler,
            { event in
                log.add(event)
                reported.yield(event)
            },
            dependencies: dependencies
        )
    }

    var events: [Martlet.Event] { self.log.all }

    /// Steps the clock, as the user can in both directions.
    func advance(by seconds: TimeInterval) { self.clock.advance(by: seconds) }
}

/// A clock that stands still.
final class TestTime: Sendable {
    private let date: Mutex<Date>
    init(_ date: Date) { self.date = Mutex(date) }
    var now: Date { self.date.withLock { $0 } }
    func advance(by seconds: TimeInterval) { self.date.withLock { $0 += seconds } }
}
