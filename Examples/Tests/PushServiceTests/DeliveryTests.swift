import Foundation
import Logging
import PushDevice
import PushSender
import PushTypes
import Testing

/// Shows a test with a push service of its own: no Apple account, no network.
///
/// `MARTLET` names the command; `make build` puts it at `.build/debug/martlet`. Without it the suite is skipped.
@Suite(.enabled(if: ProcessInfo.processInfo.environment["MARTLET"] != nil), .timeLimit(.minutes(30)))
struct DeliveryTests {
    private let command = ProcessInfo.processInfo.environment["MARTLET"] ?? "martlet"
    private let logger = Logger(label: "test")

    @Test func aPushArrivesAtTheDevice() async throws {
        try await PushService.with(command: self.command) { service in
            let device = Device(
                identity: try await DeviceActivation(adminURL: service.adminURL).activate(),
                configuration: DeviceConfiguration(host: "localhost", port: service.devicePort),
                logger: self.logger
            )
            let sender = try self.sender(to: service)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await device.run() }
                let token = try await device.deviceToken(for: PushService.bundleID)

                let payload = #"{"aps":{"alert":"Hello"}}"#
                let notification = PushNotification(
                    topic: try #require(Topic(PushService.bundleID)),
                    payload: payload
                )
                let outcome = await sender.send(Push(notification, to: try #require(DeviceToken(hex: token))))
                #expect(outcome == .accepted(.init(id: notification.id, uniqueID: outcome.uniqueID)))

                var notifications = device.notifications.makeAsyncIterator()
                let received = await notifications.next()
                #expect(received?.apnsID == notification.id)
                #expect(received?.payload == Data(payload.utf8))
                group.cancelAll()
            }
            await sender.close()
        }
    }

    @Test func aTokenOfAnotherServiceIsRejected() async throws {
        try await PushService.with(command: self.command) { service in
            let sender = try self.sender(to: service)
            let notification = PushNotification(
                topic: try #require(Topic(PushService.bundleID)),
                payload: #"{"aps":{"alert":"Hello"}}"#
            )
            let token = try #require(DeviceToken(hex: String(repeating: "2c", count: 32)))
            guard case .rejected(let rejection) = await sender.send(Push(notification, to: token)) else {
                Issue.record("the gateway never made this token")
                return
            }
            #expect(rejection.reason == .badDeviceToken)
            #expect(rejection.advice == .suspectToken)
            await sender.close()
        }
    }

    private func sender(to service: PushService) throws -> Sender {
        try Sender(
            to: PushServiceEndpoint(
                host: "localhost",
                port: service.http2Port,
                additionalTrustRoots: service.authority
            ),
            credential: PushCredential.load(file: service.keyFile, teamID: PushService.teamID),
            logger: self.logger
        )
    }
}

extension Outcome {
    /// The `apns-unique-id` of an accepted push.
    fileprivate var uniqueID: String? {
        if case .accepted(let accepted) = self { accepted.uniqueID } else { nil }
    }
}
