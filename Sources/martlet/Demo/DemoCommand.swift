import AppSimulator
import ArgumentParser
import Foundation
import Logging
import PushGateway
import PushSupport
import PushTypes
import ServiceLifecycle

/// `martlet demo`: demonstrates a gateway, a provider and a device in one process.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = command("demo")
        .help("Run gateway, provider and a phone in one process and follow one notification to its screen.")
        .detail(
            """
            Everything listens on free ports of 127.0.0.1 and is kept in a temporary directory that is removed at the \
            end. Without --exit the demo keeps running and prints commands to try next; Ctrl-C ends it.
            """
        )
        .detail("With --publisher it follows an issue instead: from its upload through Notify to its readers' mark.")
        .example("demo --exit")
        .example("demo --publisher --exit")

    @OptionGroup var common: CommonOptions
    @Flag(help: "End after the first notification, with status 0.") var exit = false
    @Flag(help: "Show a publisher's issue and its readers.") var publisher = false

    func run() async throws {
        let settings = try await self.common.settings()
        let log = LogConfiguration(settings, defaultLevel: .error)
        try settings.check()
        let directory = FileManager.default.temporaryDirectory.appending(path: "martlet-demo-\(UUID().uuidString)").path
        guard DurableFile.makePrivateFolder(directory) else { throw SettingsError("\(directory) cannot be made") }
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = settings.file.map { "; settings file \($0) is used for the log only" } ?? ""
        StandardOutput.line("Pushes go to the demo's own gateway, nothing goes to Apple. Data: \(directory)\(file)")
        let roles = DemoRoles(logger: log.logger("demo"))
        let demo = DemoRun(
            directory: directory,
            story: self.publisher ? .publisher : .notification,
            endsAfterDelivery: self.exit,
            roles: roles,
            log: log
        )
        try await ServiceRunner.run([roles], until: demo, logger: log.logger("martlet"))
    }
}

/// A service that runs those of the demo (gateway, provider and device) until ``DemoRun`` has finished.
struct DemoRoles: Service {
    private let group: ServiceGroup

    init(logger: Logger) { self.group = ServiceGroup(configuration: .init(services: [FirstRole()], logger: logger)) }

    func run() async throws { try await self.group.run() }

    func start(_ service: any Service) async { await self.group.addServiceUnlessShutdown(service) }

    /// A service that does nothing, because the group needs a first service before the roles are added.
    private struct FirstRole: Service {
        func run() async throws { try? await gracefulShutdown() }
    }
}

/// A service that starts all roles of the demo, sends one notification through them and prints each step. In the group
/// of services, it follows the roles, so that Ctrl-C stops it before them.
struct DemoRun: Service {
    /// The scenarios of the demo.
    enum Story {
        /// A scenario in which a notification is sent, shown and opened.
        case notification
        /// A scenario in which an issue is published, and readers download it.
        case publisher
    }

    let directory: String
    var story = Story.notification
    /// A Boolean value that indicates whether the demo stops after the first delivery and reads no commands.
    let endsAfterDelivery: Bool
    let roles: DemoRoles
    let log: LogConfiguration
    /// The time limit for starting the roles, and also, counted separately, for the first delivery.
    var deadline: Duration = .seconds(60)

    func run() async throws {
        do {
            try await cancelWhenGracefulShutdown {
                switch self.story {
                case .notification: try await self.perform { await self.roles.start($0) }
                case .publisher: try await self.publish { await self.roles.start($0) }
                }
            }
        } catch  where Task.isShuttingDownGracefully {
            // Ctrl-C may interrupt any step of the demo.
        }
    }

    /// Performs the steps of the scenario ``Story/notification``.
    /// - Parameter start: A closure that adds a service to the running ones.
    private func perform(_ start: @escaping @Sendable (any Service) async -> Void) async throws {
        let (loop, simulator) = try await Self.within(self.deadline) {
            var loop = DemoLoop(directory: self.directory, log: self.log)
            let gateway = try await loop.startGateway(start)
            try await loop.startProvider(trusting: gateway.authorityPEM, start)
            let simulator = try await loop.startPhone(start)
            return (loop, simulator)
        }
        let notification = try await Self.within(self.deadline) { try await self.sendFirst(loop, simulator) }
        guard !self.endsAfterDelivery else { return }
        StandardOutput.line(try loop.hints(notification: notification))
        try await self.continue(simulator)
    }

    private func publish(_ start: @escaping @Sendable (any Service) async -> Void) async throws {
        let (publisher, reader, others) = try await Self.within(self.deadline) {
            var loop = DemoLoop(directory: self.directory, environment: .production, log: self.log)
            let gateway = try await loop.startGateway(start)
            try await loop.startProvider(trusting: gateway.authorityPEM, start)
            let publisher = DemoPublisher(loop: loop)
            let (reader, others) = try await publisher.startReaders(start)
            return (publisher, reader, others)
        }
        try await Self.within(self.deadline * 3) { try await publisher.run(reader, others) }
        guard !self.endsAfterDelivery else { return }
        StandardOutput.line(
            "The demo keeps running; Ctrl-C ends it. The reader takes commands here: 'help' lists them."
        )
        try await self.continue(reader)
    }

    /// Keeps the demo running, and executes the commands that the user enters on a terminal.
    private func `continue`(_ simulator: some PhoneCommandHandler) async throws {
        if isatty(STDIN_FILENO) == 1 {
            let console = SimulatorConsole(simulator: simulator, input: nil, printer: SimulatorPrinter(asJSON: false))
            try await console.run()
        } else {
            // A phone that has failed ends the demo with its error.
            try? await gracefulShutdown()
        }
    }

    /// Sends one notification, and waits until it is shown and opened and its receipts have arrived.
    /// - Returns: The id of the notification.
    /// - Throws: An error if a step fails.
    private func sendFirst(_ loop: DemoLoop, _ simulator: Simulator) async throws -> String {
        let narrator = loop.narrator
        let request = APIRequest.post("apps", DemoLoop.bundleID, "notifications").body([
            "to": ["user": DemoLoop.user.json], "alert": ["title": "Hello", "body": "This went all the way round."],
            "mutableContent": true, "data": ["class": "Order", "property": ["id": .integer(42)]],
        ])
        let response = try await loop.provider.send(request.idempotencyKey(nil))
        guard let id = response["id"].stringValue else { throw SettingsError("the provider returned no notification") }
        narrator.report(.provider, "202 Accepted: notification \(id) is on disk")
        try await DemoLoop.perform(.wait(.shown, count: 1, seconds: DemoLoop.patience), simulator)
        let apnsID = try await simulator.perform(.list)?.json["notifications"].elements.first?["apnsId"].stringValue
        let end = try await loop.provider.end(ofNotification: id, within: self.deadline)
        guard end.isDoneAndAccepted else { throw SettingsError("the notification was not accepted: \(try end.line)") }
        narrator.report(.provider, "ledger: accepted by the push service, notification done")
        for name in try await self.events(loop, apnsID: apnsID) { narrator.report(.gateway, "event: \(name)") }
        try await DemoLoop.perform(.open(nil), simulator)
        // The receipts are delivered and shown, from the extension, and opened.
        try await DemoLoop.perform(.wait(.receipts, count: 3, seconds: DemoLoop.patience), simulator)
        let timeline = try await loop.provider.send(APIRequest(.get, ["timeline"]).query([("apnsId", apnsID)]))
        guard !timeline["timelines"].elements.isEmpty else { throw SettingsError("the provider has no timeline of it") }
        StandardOutput.line("\n\(TimelineText.of(timeline))\n")
        return id
    }

    /// Waits until a notification is delivered, and returns the names of the gateway's events for it, oldest first.
    private func events(_ loop: DemoLoop, apnsID: String?) async throws -> [String] {
        while true {
            let response = try await loop.admin.send(.get("devices", loop.deviceID, "events"))
            let events = response["events"].elements.filter { $0["apnsId"].stringValue == apnsID }
            let names = events.compactMap { $0["event"].stringValue }
            if names.contains(where: { $0.hasPrefix("Delivered") }) { return names.reversed() }
            try await Task.sleep(for: APIClient.pollInterval)
        }
    }

    /// Performs work and returns its result.
    /// - Throws: ``SettingsError`` if the work takes longer than the time limit.
    private static func within<Value: Sendable>(
        _ limit: Duration,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let value = try await withTimeLimit(limit, work) else {
            throw SettingsError("the demo was not done within \(limit)")
        }
        return value
    }
}
