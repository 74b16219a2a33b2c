import Foundation
package import Logging
import MartletKit
package import PushDevice
import PushSupport
import PushTypes
import ServiceLifecycle

/// Many readers in one process: a device of the push service and an app each, which keep everything in memory.
///
/// Run it (it is a `Service`); it reports its counts each second and at the end.
package final class ReaderFleet: Service {
    /// The registrations at a time.
    private static let registrations = 16

    /// The counts of what the readers did.
    package let counts = FleetTally()
    private let configuration: ReaderConfiguration
    private let client: SharedHTTPClient
    private let readers: [(device: Device, app: ReaderApp)]
    private let turns = CountingSemaphore(count: registrations)
    private let log: EventLog
    private let print: @Sendable (FleetTally.Counts) -> Void

    /// - Parameters:
    ///   - configuration: The configuration of each reader. The transport is replaced by one that they share.
    ///   - connections: The most requests and downloads at a time.
    ///   - link: The address of the device link.
    ///   - identities: The device of each reader.
    ///   - print: Receives the counts.
    /// - Throws: ``PhoneError``
    package init(
        _ configuration: ReaderConfiguration,
        connections: Int,
        link: DeviceConfiguration,
        identities: [DeviceIdentity],
        logger: Logger,
        print: @escaping @Sendable (FleetTally.Counts) -> Void
    ) throws {
        let client = SharedHTTPClient(connections: connections)
        var configuration = configuration
        configuration.transport = HTTPClientTransport(sharing: client)
        (self.configuration, self.client, self.print) = (configuration, client, print)
        let (counts, log) = (self.counts, EventLog(tally: EventTally(), print: { _ in }))
        self.log = log
        self.readers = try identities.enumerated().map { number, identity in
            let app = try ReaderApp(configuration, storage: ReaderMemory()) { event in
                counts.record(event, reader: number)
                log.report(SimulatorEvent(event))
            }
            return (Device(identity: identity, configuration: link, logger: logger), app)
        }
    }

    /// Runs the readers until the service is shut down.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                for (device, app) in self.readers {
                    group.addTask { try? await device.run() }
                    group.addTask { await self.register(device, app) }
                    group.addTask { for await push in device.notifications { await self.receive(push, app) } }
                }
                group.addTask {
                    while (try? await Task.sleep(for: .seconds(1))) != nil { self.print(self.counts.counts) }
                }
            }
        }
        for (_, app) in self.readers { await app.end() }
        self.print(self.counts.counts)
        try await self.client.close()
    }

    private func register(_ device: Device, _ app: ReaderApp) async {
        guard let text = await device.token(of: self.configuration.app.app, log: self.log),
            let token = DeviceToken(hex: text)
        else { return }
        let backOff = Backoff(base: .seconds(1), maximum: .seconds(30))
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled {
            do {
                try await self.turns.run {
                    try await app.register(token: token.bytes, capabilities: self.configuration.capabilities)
                }
                self.counts.registered()
                return self.log.report(SimulatorEvent(.registered, "a reader"))
            } catch NewsstandError.unavailable(_, let delay) {
                failures += 1
                let wait = backOff.delay(afterFailures: failures, using: &generator)
                try? await Task.sleep(for: max(delay ?? .zero, wait))
            } catch {
                return self.log.problem("a reader is not registered: \(error)")
            }
        }
    }

    private func receive(_ notification: PushDevice.ReceivedNotification, _ app: ReaderApp) async {
        guard let push = IssuePush(PushContent(payload: notification.payload)) else { return }
        // Without Newsstand the system wakes no app.
        guard self.configuration.capabilities.contains(.background) else { return }
        self.counts.woken()
        await app.wake(push)
    }

    /// Carries out a command for all readers.
    package func perform(_ command: LibraryCommand) async throws -> SimulatorAnswer? {
        switch command {
        case .library, .list:
            let counts = self.counts.counts
            return SimulatorAnswer(lines: [counts.line], json: counts.json)
        case .open(let product):
            for (_, app) in self.readers {
                let marked = await app.state.library.first { $0.isMarked }?.product
                if let product = product ?? marked { await app.open(product) }
            }
        case .activate: for (_, app) in self.readers { try? await app.refresh() }
        case .network(let network): for (_, app) in self.readers { await app.setNetwork(network) }
        case .wait(let name, let count, let seconds):
            try await self.log.wait(for: name, count: count, seconds: seconds)
        case .stay: try await Task.sleep(for: .seconds(Int64.max / 4))
        case .help: return SimulatorAnswer(lines: LibraryCommand.helpText.components(separatedBy: "\n"), json: .null)
        case .quit: break
        }
        return nil
    }
}
