import Foundation
import Logging
import NIOCore
import NIOSSL
import PushProtocol

/// The device link: what the courier handlers share, and the work that is more than translating packets.
struct CourierDoor: Sendable {
    let registry: Registry
    let router: Router
    let mint: TokenMint
    let authenticator: DeviceAuthenticator
    let limits: CourierServiceMachine.Limits
    let time: any TimeSource
    let logger: Logger

    /// A device that is connected and proven.
    struct Session: Sendable {
        var device: UUID
        var id: RoutingMachine.SessionID
        var baseToken: [UInt8]
        /// Whether the device has to be told its base token.
        var isNewToken: Bool
    }

    /// Bytes on their way to a device. A device that leaves more unread is disconnected; what it has not acknowledged
    /// stays stored. Above what the messages of a session can have (100 of 5 kB and their headers).
    static let outboundLimit = 1024 * 1024

    func initialize(_ channel: any Channel) throws {
        try channel.syncOptions?.setOption(
            .writeBufferWaterMark,
            value: .init(low: Self.outboundLimit / 2, high: Self.outboundLimit)
        )
        try channel.pipeline.syncOperations.addHandler(CourierServiceHandler(door: self))
    }

    /// Checks the proof and opens a session; `nil` if the device is refused.
    func open(_ connect: CourierConnect, tlsCertificate: [UInt8]?, link: Router.Link) async -> Session? {
        do {
            let device = try self.authenticator.device(connect, tlsCertificate: tlsCertificate, now: self.time.now)
            let baseToken = try self.mint.baseToken(for: device)
            let id = try await self.router.connected(
                device,
                understandsExtensions: connect.understandsExtensions,
                link: link
            )
            return Session(
                device: device,
                id: id,
                baseToken: baseToken,
                isNewToken: connect.baseToken != baseToken
            )
        } catch let refusal as DeviceAuthenticator.Refusal {
            self.logger.info("device refused", metadata: ["reason": "\(refusal.rawValue)"])
        } catch {
            self.logger.error("device session could not be opened", metadata: ["error": "\(error)"])
        }
        return nil
    }

    func token(_ request: CourierScopedTokenRequest, for session: Session) async -> CourierScopedTokenResponse {
        do {
            let token = try await self.registry.token(device: session.device, topic: request.topic, now: self.time.now)
            if let token { return CourierScopedTokenResponse(status: 0, token: token.bytes, topic: request.topic) }
        } catch {
            self.logger.error("device token could not be minted", metadata: ["error": "\(error)"])
        }
        return CourierScopedTokenResponse(status: 2, token: [], topic: request.topic)
    }

    /// Performs work of the router; a failure is logged, the device will see its messages again.
    func perform(_ work: (Router) async throws -> Void) async {
        do {
            try await work(self.router)
        } catch {
            self.logger.error("device session could not be served", metadata: ["error": "\(error)"])
        }
    }
}
