import Foundation
package import Logging
import MartletKit
package import PushDevice
import PushSupport
import PushTypes
import ServiceLifecycle

/// A phone with the publisher's app: a device of the push service, its notification centre, and the app. The reader is
/// a `Service`, which executes the user's commands while it runs.
package actor Reader: Service {
    private static let backOff = Backoff(base: .seconds(1), maximum: .seconds(60))

    private let configuration: ReaderConfiguration
    private let device: Device
    private let app: ReaderApp
    private let log: SimulatorEventLog
    /// The semaphore that limits how many readers of a fleet work at the same time, or `nil` for a single reader.
    private let turns: CountingSemaphore?
    private let keepIdentity: @Sendable (DeviceIdentity) throws -> Void
    private let keepCenter: @Sendable (PhoneNotificationCenter) throws -> Void
    private var center: PhoneNotificationCenter
    /// The device token, which is empty before the push service has issued one.
    private var token: [UInt8] = []

    /// Creates a phone with the state in `folder`, which stores later changes.
    /// - Parameters:
    ///   - link: The address of the device link.
    ///   - identity: The identity of the device.
    ///   - save: A closure that stores the identity for the next run.
    ///   - print: A closure that receives each event.
    /// - Throws: ``PhoneError`` for a folder that cannot be used.
    package init(
        _ configuration: ReaderConfiguration,
        folder: PhoneFolder,
        link: DeviceConfiguration,
        identity: DeviceIdentity,
        save: @escaping @Sendable (DeviceIdentity) throws -> Void,
        logger: Logger,
        print: @escaping @Sendable (SimulatorEvent) -> Void
    ) throws {
        let log = SimulatorEventLog(tally: EventTally(), print: print)
        (self.configuration, self.log, self.turns) = (configuration, log, nil)
        (self.keepIdentity, self.keepCenter) = (save, { try folder.save($0) })
        self.device = Device(identity: identity, configuration: link, logger: logger)
        self.center = try folder.loadCenter()
        self.center.capabilities = configuration.capabilities
        self.app = try ReaderApp(configuration, storage: try ReaderFolder("\(folder.path)/reader")) { event in
            log.report(SimulatorEvent(event))
        }
    }

    /// Creates one phone of a fleet, which stores everything in memory.
    /// - Parameters:
    ///   - link: The address of the device link.
    ///   - identity: The identity of the device.
    ///   - turns: The semaphore that limits how many readers work at the same time. Each occupies it from the push to
    ///     the downloaded file, so that a waiting reader needs memory only for the push.
    ///   - log: The log that all readers share.
    ///   - report: A closure that receives each step of the app, in addition to the log.
    init(
        _ configuration: ReaderConfiguration,
        link: DeviceConfiguration,
        identity: DeviceIdentity,
        logger: Logger,
        turns: CountingSemaphore,
        log: SimulatorEventLog,
        report: @escaping @Sendable (ReaderEvent) -> Void
    ) throws {
        (self.configuration, self.log, self.turns) = (configuration, log, turns)
        (self.keepIdentity, self.keepCenter) = ({ _ in }, { _ in })
        self.device = Device(identity: identity, configuration: link, logger: logger)
        self.center = PhoneNotificationCenter()
        self.center.capabilities = configuration.capabilities
        self.app = try ReaderApp(configuration, storage: ReaderMemory()) { event in
            // The counts are updated first: a command that waits for the event in the log reads them next.
            report(event)
            log.report(SimulatorEvent(event))
        }
    }

    package func run() async throws {
        await self.app.launch()
        await cancelWhenGracefulShutdown {
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    do {
                        try await self.device.run()
                    } catch {
                        self.log.problem("the phone cannot connect: \(ErrorDescription.of(error))")
                    }
                }
                group.addTask { await self.obtainToken() }
                for await notification in self.device.notifications { await self.receive(PhonePush(notification)) }
            }
        }
        await self.app.end()
    }

    private func obtainToken() async {
        guard let text = await self.device.token(of: self.configuration.app.app, log: self.log),
            let token = DeviceToken(hex: text)
        else { return }
        self.token = token.bytes
        do {
            try self.keepIdentity(self.device.identity)
        } catch {
            self.log.problem("the device is not kept: \(ErrorDescription.of(error))")
        }
        let line = "device token \(text.prefix(16))… (\(token.bytes.count) bytes)"
        self.log.report(SimulatorEvent(.connected, line, ["deviceToken": text.json]))
        await self.register()
    }

    /// Registers the device with the provider, as the app does at every activation, and retries after failures.
    private func register() async {
        guard !self.token.isEmpty else { return }
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled {
            do {
                try await self.app.register(token: self.token, capabilities: self.center.capabilities)
                let names = self.center.capabilities.names.joined(separator: ", ")
                let line = "the provider has this device: \(names), screen \(self.configuration.screenSize)"
                return self.log.report(SimulatorEvent(.registered, line))
            } catch NewsstandError.unavailable(let reason, let delay) {
                self.log.problem("the device is not registered: \(reason)")
                failures += 1
                let wait = Self.backOff.delay(afterFailures: failures, using: &generator)
                try? await Task.sleep(for: max(delay ?? .zero, wait))
            } catch {
                return self.log.problem("the device is not registered: \(error)")
            }
        }
    }

    private func receive(_ push: PhonePush) async {
        // A publisher's app from the time of Newsstand has no notification service extension.
        let content: PushContent
        switch self.center.arrived(push) {
        case .drop(let events): return self.log.report(events)
        case .deliver(let original), .runExtension(let original): content = original
        }
        let events = self.center.deliver(content, of: push, now: Date())
        self.keep()
        self.log.report(events)
        for case .woken(let content, _) in events {
            guard let issue = IssuePush(content) else {
                self.log.problem("the push names no issue")
                continue
            }
            await self.wake(issue)
        }
    }

    private func wake(_ issue: IssuePush) async {
        guard let turns else { return await self.app.wake(issue) }
        await turns.run {
            await self.app.wake(issue)
            await self.app.settle()
        }
    }

    private func keep() {
        do {
            try self.keepCenter(self.center)
        } catch {
            self.log.problem("\(error)")
        }
    }

    // MARK: - The user

    /// Executes a command of the user.
    /// - Returns: The response as text and as JSON, or `nil` for a command without a response.
    /// - Throws: ``PhoneError`` for a command that is not possible now, or ``WaitError`` for a wait that timed out.
    package func perform(_ command: LibraryCommand) async throws -> SimulatorResponse? {
        switch command {
        case .library:
            let page = LibraryListing(await self.app.state)
            return SimulatorResponse(lines: page.lines, json: page.json)
        case .list: return SimulatorResponse(lines: self.center.lines, json: self.center.json)
        case .open(let product): try await self.open(product)
        case .activate: try await self.activate()
        case .network(let network): await self.app.setNetwork(network)
        case .wait, .stay, .help, .quit: return try await self.log.perform(command)
        }
        return nil
    }

    private func open(_ product: String?) async throws {
        let marked = await self.app.state.library.first { $0.isMarked }?.product
        guard let product = product ?? marked else { throw PhoneError("no issue has a mark: 'library' shows all") }
        guard await self.app.open(product) else {
            throw PhoneError("the issue \(product) is not here: 'library' shows all")
        }
    }

    private func activate() async throws {
        await self.register()
        do {
            try await self.app.refresh()
        } catch {
            throw PhoneError("the catalogue is not loaded: \(error)")
        }
    }
}

extension Reader: PhoneCommandHandler {
    package func flush() async -> Int { 0 }
}
