import Foundation
import Logging
import NIOCore
import NIOSSL
import PushProtocol
import Synchronization

/// The provider API: answers push requests over HTTP/2.
struct ProviderDoor: Sendable {
    let registry: Registry
    let router: Router
    let environment: PushEnvironment
    let requestDeadline: TimeAmount
    let time: any TimeSource
    let logger: Logger

    /// Sets up a connection after TLS.
    func initialize(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(
            ProtocolDetector(deadline: self.requestDeadline, configureHTTP2: self.configureHTTP2)
        )
    }

    private func configureHTTP2(_ channel: any Channel) throws {
        var limits = ServiceConnectionLimits()
        limits.request = self.requestDeadline
        try channel.pipeline.syncOperations.addHandler(
            ProviderConnectionHandler(limits: limits, now: channel.eventLoop.now, logger: self.logger) {
                Receiver(door: self, handle: $0)
            }
        )
    }

    /// Answers the requests of one connection, each in its own task.
    private struct Receiver: ProviderRequestReceiver {
        let door: ProviderDoor
        let handle: ProviderConnectionHandle
        let state = ConnectionState()

        func received(_ requests: [(stream: UInt32, request: ProviderRequest)]) {
            for (stream, request) in requests {
                Task { [door, handle, state] in handle.answer(stream, await door.answer(request, on: state)) }
            }
        }

        func cancelled(_ streams: [UInt32]) {}

        func closed() {}
    }

    /// What the requests of one connection share.
    final class ConnectionState: Sendable {
        let connection = Mutex(ProviderConnection())
    }

    private func answer(_ request: ProviderRequest, on state: ConnectionState) async -> ProviderAnswer {
        let apnsID = PushRequestValidator.apnsID(of: request) ?? UUID().uuidString
        let validator = PushRequestValidator(directory: self.registry, now: self.time.now)
        do {
            let push = try state.connection.withLock { connection in
                try validator.validate(request, connection: &connection, apnsID: apnsID)
            }
            try await self.router.submit(push)
            let uniqueID = self.environment == .sandbox ? UUID().uuidString : nil
            return .accepted(apnsID: apnsID, uniqueID: uniqueID)
        } catch let refusal as PushRequestValidator.Refusal {
            await self.note(refusal, apnsID: apnsID)
            return .refused(refusal.reason, apnsID: apnsID, timestamp: refusal.timestamp)
        } catch {
            self.logger.error("push could not be stored", metadata: ["apns-id": "\(apnsID)", "error": "\(error)"])
            return .refused(.internalServerError, apnsID: apnsID)
        }
    }

    private func note(_ refusal: PushRequestValidator.Refusal, apnsID: String) async {
        self.logger.info("push refused", metadata: ["apns-id": "\(apnsID)", "reason": "\(refusal.reason.text)"])
        guard let token = refusal.token else { return }
        do {
            try await self.router.refusedUnregistered(device: token.device, topic: token.topic, apnsID: apnsID)
        } catch {
            self.logger.error("event could not be stored", metadata: ["apns-id": "\(apnsID)", "error": "\(error)"])
        }
    }
}
