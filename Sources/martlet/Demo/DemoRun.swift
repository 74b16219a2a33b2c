import AppSimulator
import Foundation
import Logging
import PushDevice
import PushGateway
import PushSender
import PushSupport
import PushTypes
import ServiceLifecycle

/// The gateway, the provider and the device of the demo, which run until ``DemoRun`` has ended.
struct DemoRoles: Service {
    private let group: ServiceGroup

    init(logger: Logger) {
        self.group = ServiceGroup(configuration: .init(services: [FirstRole()], logger: logger))
    }

    func run() async throws { try await self.group.run() }

    /// Runs a service with the others.
    func start(_ service: any Service) async { await self.group.addServiceUnlessShutdown(service) }

    /// Keeps the group, which could not run without a service, for the roles that are started in it.
    private struct FirstRole: Service {
        func run() async throws { try? await gracefulShutdown() }
    }
}

/// Sets up all roles, sends one notification through them and prints each step.
///
/// It comes after the roles in a group of services, so that Ctrl-C ends it first and it meets no role that has ended.
struct DemoRun: Service {
    /// The stories that the demo tells.
    enum Story {
        /// A notification that is shown and opened.
        case notification
        /// An issue that readers download.
        case publisher
    }

    let directory: String
    var story = Story.notification
    /// Indicates whether the demo ends after the first delivery.
    let endsAfterDelivery: Bool
    let roles: DemoRoles
    let log: LogConfiguration
    /// The longest time of the set-up, and of the first delivery.
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
            // Ctrl-C interrupts whatever step the demo is at.
        }
    }

    /// Performs the steps of the demo.
    /// - Parameter start: Runs a service with the others.
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

    /// Performs the steps of the publisher's demo.
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

    /// Keeps the demo running, with the commands that are typed.
    private func `continue`(_ simulator: some PhoneCommandHandler) async throws {
        if isatty(STDIN_FILENO) == 1 {
            let console = SimulatorConsole(simulator: simulator, input: nil, printer: SimulatorPrinter(asJSON: false))
            try await console.run()
        } else {
            // A phone that has failed ends the demo with its error.
            try? await gracefulShutdown()
        }
    }

    /// Sends one notification and follows it to the screen and back.
    /// - Returns: Its id.
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
        // Delivered and shown, by the extension, and opened.
        try await DemoLoop.perform(.wait(.receipts, count: 3, seconds: DemoLoop.patience), simulator)
        let timeline = try await loop.provider.send(APIRequest(.get, ["timeline"]).query([("apnsId", apnsID)]))
        guard !timeline["timelines"].elements.isEmpty else { throw SettingsError("the provider has no timeline of it") }
        StandardOutput.line("\n\(TimelineText.of(timeline))\n")
        return id
    }

    /// Returns the gateway's events of a notification, oldest first, once the device's acknowledgement is among them.
    private func events(_ loop: DemoLoop, apnsID: String?) async throws -> [String] {
        while true {
            let response = try await loop.admin.send(.get("devices", loop.deviceID, "events"))
            let events = response["events"].elements.filter { $0["apnsId"].stringValue == apnsID }
            let names = events.compactMap { $0["event"].stringValue }
            if names.contains(where: { $0.hasPrefix("Delivered") }) { return names.reversed() }
            try await Task.sleep(for: APIClient.pollInterval)
        }
    }

    /// Returns the result of some work, or throws when the time is up.
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
