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
    private let budgets: Budgets
    private let known: KnownTokens
    private let templates: MatrixTemplates
    private let connections: MatrixConnections
    private let forwarder: (any UnifiedPushForwarding)?
    private let time: any TimeSource
    private let log: LimitedLog

    /// - Parameter forwarder: Forwards pushkeys that are addresses; `nil` if nothing does.
    init(_ parts: ProviderParts, forwarder: (any UnifiedPushForwarding)?) {
        (self.store, self.acceptor, self.time) = (parts.store, parts.acceptor, parts.time)
        self.apps = MatrixApps.cache(parts.store, time: parts.time)
        (self.budgets, self.known) = (parts.budgets, KnownTokens(store: parts.store))
        (self.log, self.connections) = (LimitedLog(parts.logger), MatrixConnections(parts.runner.connections))
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
    ///   - client: The homeserver.
    ///   - channel: The connection that the request came on.
    /// - Returns: The pushkeys that the homeserver shall forget.
    /// - Throws: ``MatrixError``, ``BudgetRefusal``, or an error of the store.
    func notify(_ body: [UInt8], from client: BudgetCaller, on channel: any Channel) async throws -> [String] {
        let (receivedAt, begin) = (self.time.now, ContinuousClock.now)
        let notification = try MatrixNotification(parsing: body)
        // Each further device costs as much as a request.
        let further = notification.devices.count - 1
        if further > 0 { try self.budgets[.matrixRequests].spend(further, for: client) }
        let plans = try await self.plans(for: notification)
        let held = try await self.take(plans, for: client)
        defer { for permit in held { permit.end() } }
        var rejected: [String] = []
        for (device, plan) in zip(notification.devices, plans) {
            // The homeserver repeats the whole request.
            guard channel.isActive else { throw MatrixError(408, .unknown, "the homeserver has closed the connection") }
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
                let outcome = try await self.forwarder?.forward(body, to: device.pushkey, of: app, for: client)
                rejection = outcome == .gone ? .unknownEndpoint : nil
            }
            guard let rejection else { continue }
            self.note("Matrix pushkey rejected", device, rejection.rawValue)
            rejected.append(device.pushkey)
        }
        return rejected
    }

    /// The bytes that are held for a device beside its payload: its request, its row and its response.
    private static let bytesOfDevice = 1024

    /// Takes what the pushes of a request need, before any of them is accepted.
    private func take(
        _ plans: [MatrixTranslator.Plan],
        for client: BudgetCaller
    ) async throws -> [BudgetPermit] {
        guard plans.count(where: \.isForwarded) <= 1 else {
            throw MatrixError(400, .badJSON, "notification.devices names more than one address")
        }
        var bytes: [Topic: Int] = [:]
        var unknown: [Topic: Int] = [:]
        for case .push(let push) in plans {
            let environment = push.app.environment ?? .production
            if try await !self.known.contains(push.token, of: push.app.id, in: environment) {
                unknown[push.app.bundleID, default: 0] += 1
            }
            bytes[push.app.bundleID, default: 0] += Self.bytesOfDevice + push.payload.count
        }
        // All of them or none: a request that is refused, and comes again, takes nothing in vain.
        for (app, count) in unknown {
            try self.budgets[.unknownTokens].spend(count, for: BudgetCaller(app: app, client.identity))
        }
        for case .push(let push) in plans {
            try self.budgets[.matrixPushes].spend(for: BudgetCaller(app: push.app.bundleID, .name(push.token.hex)))
        }
        return try bytes.map { app, count in
            try self.budgets[.matrixBytes].take(count, for: BudgetCaller(app: app, client.identity))
        }
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
        case .conflict, .tokenOfOtherKind, .originalForgotten, .scheduleChanged, .issueWithdrawn:
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
        guard standing == .reached else { return }
        let homeserver = BudgetCaller(clientOf: channel, app: push.app.bundleID)
        self.connections.keep(channel, for: push.token, of: push.app.id, homeserver)
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
