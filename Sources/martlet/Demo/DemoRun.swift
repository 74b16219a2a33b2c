import Foundation
import Logging
import PushDevice
import PushGateway
import PushSender
import PushSupport
import ServiceLifecycle

/// Sets up the loop, sends one notification through it and tells what happens at each joint.
struct DemoRun: Service {
    /// For everything up to the first delivery.
    private static let deadline: Duration = .seconds(60)

    let directory: String
    let endsAfterDelivery: Bool
    let log: LogSetup

    /// The roles run in a group of their own, which ends when the story does.
    func run() async throws {
        let group = ServiceGroup(configuration: .init(services: [any Service](), logger: self.log.logger("demo")))
        await group.addServiceUnlessShutdown(
            .init(
                service: DemoStory(run: self, group: group),
                successTerminationBehavior: .gracefullyShutdownGroup
            )
        )
        try await group.run()
    }

    private struct DemoStory: Service {
        let run: DemoRun
        let group: ServiceGroup

        func run() async throws {
            try await self.run.tell { await self.group.addServiceUnlessShutdown($0) }
        }
    }

    private func tell(_ start: @escaping @Sendable (any Service) async -> Void) async throws {
        let narrator = DemoNarrator()
        let (loop, device) = try await Self.within(Self.deadline) {
            var loop = DemoLoop(directory: self.directory, log: self.log, narrator: narrator)
            let gateway = try await loop.startGateway(start)
            try await loop.startProvider(trusting: gateway.authorityPEM, start)
            let device = try await loop.startDevice(start)
            return (loop, device)
        }
        let first = try await Self.within(Self.deadline) {
            try await self.sendFirst(loop, device, narrator)
        }
        StandardOutput.line("\n\(NotificationText.plain(first))\n")
        guard !self.endsAfterDelivery else { return }
        StandardOutput.line(try Self.hints(loop))
        for await notification in device.notifications.cancelOnGracefulShutdown() {
            StandardOutput.line(NotificationText.plain(notification))
        }
        // The device ends before this does, and its sequence with it.
        try? await gracefulShutdown()
    }

    private func sendFirst(
        _ loop: DemoLoop,
        _ device: Device,
        _ narrator: DemoNarrator
    ) async throws -> ReceivedNotification {
        let answer = try await loop.provider(
            .post,
            "/v1/apps/\(DemoLoop.bundleID)/notifications",
            headers: [("idempotency-key", UUID().uuidString)],
            body: ["to": ["user": DemoLoop.user], "alert": ["title": "Hello", "body": "This went all the way round."]]
        )
        guard let id = answer["id"] as? String else { throw SettingsError("the provider named no notification") }
        narrator.say(.provider, "202 Accepted: notification \(id) is on disk")
        var notifications = device.notifications.makeAsyncIterator()
        guard let received = await notifications.next() else { throw CancellationError() }
        narrator.say(.device, "received and acknowledged apns-id \(received.apnsID ?? "?")")
        let end = try await NotificationProgress(call: loop.provider, id: id).end(within: Self.deadline)
        guard end.allAccepted else { throw SettingsError("the provider says: \(end.answer)") }
        narrator.say(.provider, "ledger: accepted by the push service, notification done")
        for name in try await self.events(loop, apnsID: received.apnsID) { narrator.say(.gateway, "event: \(name)") }
        return received
    }

    /// Oldest first; waits for the one that comes with the device's acknowledgement.
    private func events(_ loop: DemoLoop, apnsID: String?) async throws -> [String] {
        while true {
            let answer = try await loop.admin(.get, "/v1/devices/\(loop.deviceID)/events")
            let events = answer["events"] as? [[String: Any]] ?? []
            let names = events.filter { $0["apnsId"] as? String == apnsID }.compactMap { $0["event"] as? String }
            if names.contains(where: { $0.hasPrefix("Delivered") }) { return names.reversed() }
            try await Task.sleep(for: NotificationProgress.interval)
        }
    }

    private static func hints(_ loop: DemoLoop) throws -> String {
        let key = try ProviderKey(teamID: DemoLoop.teamID, keyID: DemoLoop.keyID, pem: loop.privateKey)
        var token = ProviderTokenSigner(key: key)
        return DemoHints(loop: loop, providerToken: try token.text(now: SystemTime().now)).text
    }

    private static func within<Value: Sendable>(
        _ limit: Duration,
        _ work: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask { try await work() }
            group.addTask {
                try await Task.sleep(for: limit)
                throw SettingsError("the demo did not get through within \(limit)")
            }
            defer { group.cancelAll() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }
}
