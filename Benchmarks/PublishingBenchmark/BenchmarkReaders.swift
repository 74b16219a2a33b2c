import AppSimulator
import Benchmarking
import Foundation
import MartletKit
import PushSupport
import PushTypes

/// The readers, each with its device token. They keep everything in memory.
final class BenchmarkReaders: Sendable {
    /// The registrations at a time.
    private static let registrations = 32

    let tally = FleetTally()
    private let readers: [String: ReaderApp]
    private let configuration: ReaderConfiguration
    /// The readers that work at a time. Each keeps its turn from the push to the file, as if it had a connection of its own.
    private let turns: CountingSemaphore

    init(
        count: Int,
        provider: String,
        publicKey: String,
        door: String,
        transport: any DownloadTransport,
        working: Int
    ) throws {
        self.turns = CountingSemaphore(count: working)
        guard let url = URL(string: provider) else { throw BenchmarkFailure("\(provider) is no URL") }
        let app = try MartletKit.Martlet.Configuration(provider: url, app: Publisher.app, key: publicKey)
        var configuration = ReaderConfiguration(app: app)
        configuration.registrationKey = door
        configuration.environment = .production
        configuration.transport = transport
        // The provider may be busy for as long as all downloads take.
        configuration.rules.maximumFailures = 1000
        configuration.rules.longestWait = .seconds(20)
        self.configuration = configuration
        let tally = self.tally
        var readers: [String: ReaderApp] = [:]
        for number in 0..<count {
            readers[Self.token(number)] = try ReaderApp(configuration, storage: ReaderMemory()) { event in
                tally.record(event, reader: number)
            }
        }
        self.readers = readers
    }

    /// A client of the provider as the readers have it.
    var newsstand: Newsstand { Newsstand(self.configuration.app, transport: self.configuration.transport) }

    /// The readers whose download was given up or never begins.
    var lost: Int {
        let counts = self.tally.counts
        return counts.failed + counts.skipped.values.reduce(0, +)
    }

    /// Returns the token of a reader, in hexadecimal.
    private static func token(_ number: Int) -> String {
        var word = UInt64(truncatingIfNeeded: number &+ 1) &* 0x9e37_79b9_7f4a_7c15
        word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
        return (0..<4).map { String(format: "%08x%08x", number, UInt32(truncatingIfNeeded: word >> ($0 * 8))) }.joined()
    }

    /// Registers all readers with the publisher's form.
    func register() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, (token, reader)) in self.readers.enumerated() {
                if index >= Self.registrations { try await group.next() }
                group.addTask {
                    let bytes = DeviceToken(hex: token)?.bytes ?? []
                    try await reader.register(token: bytes, capabilities: [.alert, .badge, .sound, .background])
                    self.tally.registered()
                }
            }
            try await group.waitForAll()
        }
    }

    /// Hands a push to the reader of a token. One that names no issue is shown to nobody.
    /// - Returns: `false` for a token of no reader.
    func receive(_ payload: Data, token: String) -> Bool {
        guard let reader = self.readers[token] else { return false }
        guard let push = IssuePush(PushContent(payload: payload)) else { return true }
        self.tally.woken()
        // The push service does not wait for the reader.
        Task {
            await self.turns.run {
                await reader.wake(push)
                await reader.settle()
            }
        }
        return true
    }
}
