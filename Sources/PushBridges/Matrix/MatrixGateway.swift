import Foundation
import Logging
import NIOCore
import ProviderAPI
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The Matrix push gateway: turns what homeservers say into notifications of the ledger.
///
/// It responds once the ledger has the notification, and does not wait for the push service. What that says about a token reaches the
/// homeserver with a later request, from the state of the token in the store.
struct MatrixGateway: Sendable {
    private let store: any ProviderStore
    private let acceptor: NotificationAcceptor
    private let apps: BridgeCache<MatrixApps>
    let limits: MatrixLimits
    private let templates: MatrixTemplates
    private let connections = MatrixConnections()
    private let forwarder: (any UnifiedPushForwarding)?
    private let time: any TimeSource
    private let log: LimitedLog

    /// - Parameter forwarder: Forwards pushkeys that are addresses; `nil` if nothing does.
    init(_ parts: ProviderParts, forwarder: (any UnifiedPushForwarding)?) {
        (self.store, self.acceptor, self.time) = (parts.store, parts.acceptor, parts.time)
        self.apps = MatrixApps.cache(parts.store, time: parts.time)
        self.limits = MatrixLimits(rate: parts.configuration.limits.homeserverRate)
        self.log = LimitedLog(parts.logger)
        self.templates = MatrixTemplates(store: parts.store, log: self.log)
        self.forwarder = forwarder
    }

    /// Returns `true` if pushkeys that are addresses are forwarded for some app.
    func forwardsAddresses() async throws -> Bool {
        guard self.forwarder != nil else { return false }
        return try await self.apps.value.forwardsAddresses
    }

    /// Accepts the notification in the body of a request.
    /// - Parameters:
    ///   - agent: The name of the homeserver's program.
    ///   - channel: The connection that the request came on.
    /// - Returns: The pushkeys that the homeserver shall forget.
    /// - Throws: ``MatrixError``, or an error of the store.
    func notify(_ body: [UInt8], agent: String?, on channel: any Channel) async throws -> [String] {
        let (receivedAt, begin) = (self.time.now, ContinuousClock.now)
        let notification = try MatrixNotification(parsing: body)
        let further = notification.devices.count - 1
        try self.limits.take(from: Self.address(of: channel), agent: agent, count: further)
        let plans = try await self.plans(for: notification)
        var apps: Set<Int64> = []
        for case .push(let push) in plans {
            try self.limits.take(push.token, of: push.app.id)
            apps.insert(push.app.id)
        }
        for case .forward(let app) in plans { apps.insert(app.id) }
        try self.limits.begin(apps)
        defer { self.limits.end(apps) }
        var rejected: [String] = []
        for (device, plan) in zip(notification.devices, plans) {
            let rejection: MatrixTranslator.Rejection?
            switch plan {
            case .reject(let reason): rejection = reason
            case .drop(let reason):
                if reason != .nothingToSend { self.note("Matrix notification dropped", device, reason.rawValue) }
                rejection = nil
            case .push(let push):
                let checkedIn = begin.duration(to: .now).microseconds
                rejection = try await self.accept(push, device, receivedAt: receivedAt, checkedIn: checkedIn, channel)
            case .forward(let app):
                let outcome = try await self.forwarder?.forward(body, to: device.pushkey, app: app.id)
                rejection = outcome == .gone ? .unknownEndpoint : nil
            }
            guard let rejection else { continue }
            self.note("Matrix pushkey rejected", device, rejection.rawValue)
            rejected.append(device.pushkey)
        }
        return rejected
    }

    /// Returns the address of the homeserver at the other end of a connection, or of a stream of one.
    static func address(of channel: any Channel) -> SocketAddress? {
        channel.remoteAddress ?? channel.parent?.remoteAddress
    }

    /// Returns the plan for each device of a notification.
    private func plans(for notification: MatrixNotification) async throws -> [MatrixTranslator.Plan] {
        do {
            return try self.plans(for: notification, try await self.apps.value)
        } catch let error as MatrixError where error.status == 502 {
            // What is missing may have been set since the apps were read.
            return try self.plans(for: notification, try await self.apps.read())
        }
    }

    private func plans(
        for notification: MatrixNotification,
        _ apps: MatrixApps
    ) throws(MatrixError) -> [MatrixTranslator.Plan] {
        let translator = MatrixTranslator(apps: apps, forwardsAddresses: self.forwarder != nil)
        let now = self.time.now
        var plans: [MatrixTranslator.Plan] = []
        plans.reserveCapacity(notification.devices.count)
        for device in notification.devices { plans.append(try translator.plan(device, of: notification, now: now)) }
        return plans
    }

    /// Writes a push into the ledger.
    /// - Returns: The reason for which the pushkey is rejected instead; `nil` if it is not.
    private func accept(
        _ push: MatrixPush,
        _ device: MatrixDevice,
        receivedAt: Timestamp,
        checkedIn: Int64,
        _ channel: any Channel
    ) async throws -> MatrixTranslator.Rejection? {
        let request = await self.templates.request(for: push, now: receivedAt) ?? push.request
        let record = AcceptanceRecord(
            receivedAt: receivedAt,
            checkedIn: checkedIn,
            origin: NotificationOrigin(.matrix, bridge: push.app.name),
            tokensSince: push.since
        )
        let acceptance: Acceptance
        do {
            acceptance = try await self.acceptor.accept(
                request,
                app: push.app.id,
                idempotency: push.idempotency,
                acceptance: record
            ).acceptance
        } catch let error as RequestError where error.kind == .invalid || error.kind == .conflict {
            // The homeserver would repeat it for a day, and keep all later ones back.
            self.note("Matrix notification dropped", device, "\(error.code): \(error.message)")
            return nil
        }
        switch acceptance {
        case .accepted, .repeated: await self.keep(channel, push)
        case .inactiveToken: return .inactive
        case .conflict, .tokenOfOtherKind, .originalForgotten, .scheduleChanged:
            self.note("Matrix notification dropped", device, "\(acceptance)")
        }
        return nil
    }

    /// Keeps the connection of a homeserver that knows a token which pushes reach.
    private func keep(_ channel: any Channel, _ push: MatrixPush) async {
        guard !self.connections.isKept(channel) else { return }
        let standing = try? await self.store.standing(
            of: push.token,
            app: push.app.id,
            environment: push.app.environment ?? .production
        )
        if standing == .reached { self.connections.keep(channel, for: push.token, of: push.app.id) }
    }

    /// Logs what becomes of a device, without its pushkey.
    private func note(_ message: String, _ device: MatrixDevice, _ reason: String) {
        guard let omitted = self.log.admit(message) else { return }
        let metadata: Logger.Metadata = [
            "app_id": "\(device.appID.prefix(64))", "reason": "\(reason)",
            "pushkey_sha256": "\(MatrixPushkey.hash(device.pushkey))",
        ]
        self.log.write(.notice, message, metadata, omitted: omitted)
    }
}

extension MatrixPush {
    /// The notification whose payload is the one of the push.
    var request: NotificationRequest {
        NotificationRequest(
            content: NotificationContent(
                topic: self.app.bundleID,
                pushType: self.pushType,
                tokenKind: .alert,
                priority: self.priority,
                expiration: self.expiration,
                collapseID: self.collapseID,
                payload: self.payload
            ),
            audience: .tokens([self.token]),
            environment: self.app.environment
        )
    }
}
