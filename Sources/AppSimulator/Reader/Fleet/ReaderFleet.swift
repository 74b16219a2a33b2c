package import Logging
package import PushDevice
import PushSupport
import ServiceLifecycle

/// Many readers in one process, which store everything in memory and share connections. Each reader has a device of the
/// push service. The fleet is a `Service`, which reports its counts every second and when it stops.
package final class ReaderFleet: Service {
    package let counts = FleetTally()
    private let client: SharedHTTPClient
    private let readers: [Reader]
    private let log: SimulatorEventLog
    private let print: @Sendable (FleetTally.Counts) -> Void

    /// Creates the readers of a fleet, one for each identity.
    /// - Parameters:
    ///   - configuration: The configuration of each reader. Its transport is replaced by one that all readers share.
    ///   - connections: The maximum number of concurrent requests, and the maximum number of readers that work at the
    ///     same time.
    ///   - link: The address of the device link.
    ///   - identities: The identity of each reader's device.
    ///   - print: A closure that receives the counts, for example to print them.
    /// - Throws: ``PhoneError`` for a configuration that cannot be used.
    package init(
        _ configuration: ReaderConfiguration,
        connections: Int,
        link: DeviceConfiguration,
        identities: [DeviceIdentity],
        logger: Logger,
        print: @escaping @Sendable (FleetTally.Counts) -> Void
    ) throws {
        let client = SharedHTTPClient(connections: connections, proxy: link.proxy)
        var configuration = configuration
        configuration.transport = HTTPClientTransport(sharing: client)
        let counts = self.counts
        let turns = CountingSemaphore(count: connections)
        let log = SimulatorEventLog(tally: EventTally()) { counts.record($0) }
        (self.client, self.log, self.print) = (client, log, print)
        self.readers = try identities.enumerated().map { number, identity in
            try Reader(configuration, link: link, identity: identity, logger: logger, turns: turns, log: log) { event in
                counts.record(event, reader: number)
            }
        }
    }

    package func run() async throws {
        await withTaskGroup(of: Void.self) { group in
            for reader in self.readers { group.addTask { try? await reader.run() } }
            group.addTask {
                await cancelWhenGracefulShutdown {
                    while (try? await Task.sleep(for: .seconds(1))) != nil { self.print(self.counts.counts) }
                }
            }
        }
        self.print(self.counts.counts)
        try await self.client.close()
    }

    /// Executes a command for all readers. Errors of single readers are ignored.
    /// - Returns: The response as text and as JSON, or `nil` for a command without a response.
    /// - Throws: ``WaitError`` for a wait that timed out.
    package func perform(_ command: LibraryCommand) async throws -> SimulatorResponse? {
        switch command {
        case .library, .list:
            let counts = self.counts.counts
            return SimulatorResponse(lines: [counts.line], json: counts.json)
        case .open, .activate, .network:
            await withTaskGroup(of: Void.self) { group in
                for reader in self.readers { group.addTask { _ = try? await reader.perform(command) } }
            }
            return nil
        case .wait, .stay, .help, .quit: return try await self.log.perform(command)
        }
    }
}

extension ReaderFleet: PhoneCommandHandler {
    package func flush() async -> Int { 0 }
}
