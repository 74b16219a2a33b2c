import Foundation
import Logging
import NIOCore
import ProviderAPI
import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import PushTypes

/// The Matrix push gateway, which converts requests of homeservers into notifications of the ledger.
///
/// It responds once the ledger contains the notification, without waiting for the push service. If the push service
/// rejects a token, the state of the token in the store changes, and the response to a later request rejects its
/// pushkey.
struct MatrixGateway: Sendable {
    /// The time after which a homeserver should repeat a request for an app whose pushes are stopped.
    private static let stopDelay = Duration.seconds(60)

    private let store: any AppStore & NamedTokenStore
    private let acceptor: NotificationAcceptor
    private let apps: BridgeCache<MatrixAppDirectory>
    private let budgets: BudgetRegistry
    private let known: KnownTokens
    private let templates: MatrixTemplates
    private let connections: MatrixConnections
    private let forwarder: (any NotificationForwarder)?
    private let forwards: ForwardsInFlight
    private let time: any TimeSource
    private let log: RateLimitedLog

    /// Creates the gateway of a provider.
    /// - Parameter forwarder: Forwards to pushkeys that are UnifiedPush addresses. If it is `nil`, nothing is
    ///   forwarded.
    init(_ parts: ProviderComponents, forwarder: (any NotificationForwarder)?) {
        (self.store, self.acceptor, self.time) = (parts.store, parts.acceptor, parts.time)
        self.apps = MatrixAppDirectory.cache(parts.store, time: parts.time)
        (self.budgets, self.known) = (parts.budgets, KnownTokens(store: parts.store))
        self.log = RateLimitedLog(parts.logger, parts.budgets[.logLines])
        self.connections = MatrixConnections(parts.runner.connections)
        self.templates = MatrixTemplates(store: parts.store, log: self.log)
        (self.forwarder, self.forwards) = (forwarder, parts.forwards)
    }

    /// Returns whether messages for the UnifiedPush addresses of at least one app are forwarded.
    func forwardsAddresses() async throws -> Bool {
        guard self.forwarder != nil else { return false }
        return try await self.apps.value.forwardsAddresses
    }

    /// Accepts the notification in the body of a homeserver's request, for each of its devices.
    /// - Parameters:
    ///   - permit: The permit for the bytes of the request. It is moved to the account of the app, if the request
    ///     concerns only one app.
    ///   - client: The homeserver, identified by its network.
    ///   - channel: The connection of the request.
    /// - Returns: The rejected pushkeys, which the homeserver must remove.
    /// - Throws: ``MatrixError``, ``BudgetRefusal``, `CancellationError` if the homeserver closes the connection, or an
    ///   error of the store.
    func notify(
        _ body: [UInt8],
        holding permit: BudgetPermit,
        from client: BudgetCaller,
        on channel: any Channel
    ) async throws -> [String] {
        let arrival = Arrival(at: self.time.now, client: client, channel: channel)
        let notification = try MatrixNotification(parsing: body)
        // Each further device is charged like a request.
        let further = notification.devices.count - 1
        if further > 0 { try self.budgets[.matrixRequests].spend(further, for: client) }
        // A long request is cancelled with its connection, so that it takes no resources from others.
        guard further > 0 || notification.devices.contains(where: { MatrixPushkey.isAddress($0.pushkey) }) else {
            return try await self.notify(notification, body, permit, arrival)
        }
        return try await channel.withClientConnected { try await self.notify(notification, body, permit, arrival) }
    }

    private struct Arrival: Sendable {
        let at: Timestamp
        let begin = ContinuousClock.now
        let client: BudgetCaller
        let channel: any Channel
    }

    private func notify(
        _ notification: MatrixNotification,
        _ body: [UInt8],
        _ permit: BudgetPermit,
        _ arrival: Arrival
    ) async throws -> [String] {
        let plans = try await self.plans(for: notification)
        try await self.charge(plans, permit, arrival.client)
        var rejected: [String] = []
        for (device, plan) in zip(notification.devices, plans) {
            // After a cancellation, the homeserver repeats the whole request.
            try Task.checkCancellation()
            let rejection: MatrixTranslator.Rejection?
            switch plan {
            case .reject(let reason): rejection = reason
            case .nothing: rejection = nil
            case .push(let push): rejection = try await self.accept(push, device, arrival)
            case .forward(let app):
                let outcome = try await self.forward(body, to: device.pushkey, of: app, for: arrival.client)
                rejection = outcome == .gone ? .unknownEndpoint : nil
            }
            guard let rejection else { continue }
            self.note("Matrix pushkey rejected", device, rejection.rawValue)
            rejected.append(device.pushkey)
        }
        return rejected
    }

    /// Forwards the body of a request to a UnifiedPush endpoint. Returns `nil` if there is no forwarder.
    private func forward(
        _ body: [UInt8],
        to endpoint: String,
        of app: MatrixApp,
        for client: BudgetCaller
    ) async throws -> UnifiedPushOutcome? {
        guard let forwarder else { return nil }
        return try await self.forwards.forward(app: app.id) {
            // The app may have been stopped since the request arrived.
            try await self.checkStop(of: app)
            return try await forwarder.forward(body, to: endpoint, of: app, for: client)
        }
    }

    /// Throws ``MatrixError`` if all pushes of the app are stopped. Pushes to devices then wait in the ledger, but a
    /// notification to be forwarded must wait at the homeserver, which repeats the request.
    private func checkStop(of app: MatrixApp) async throws {
        guard try await self.store.stop(of: app.id) != nil else { return }
        throw MatrixError(503, .unknown, "everything of the app is stopped", delay: Self.stopDelay)
    }

    /// An app and an environment, by which the tokens of a request are grouped for charging.
    private struct Place: Hashable {
        let app: Int64
        let bundleID: Topic
        let environment: PushEnvironment
    }

    /// Charges the pushes of a request to the budgets of their apps, before any of them is accepted.
    ///
    /// Either all budgets are charged or none, because a homeserver repeats a refused request as a whole.
    private func charge(_ plans: [MatrixTranslator.Plan], _ permit: BudgetPermit, _ client: BudgetCaller) async throws {
        guard plans.count(where: \.isForwarded) <= 1 else {
            throw MatrixError(400, .badJSON, "notification.devices names more than one address")
        }
        for case .forward(let app) in plans { try await self.checkStop(of: app) }
        var named: [Place: [DeviceToken]] = [:]
        var charges: [Charge] = []
        for case .push(let push) in plans {
            let (app, environment) = (push.app.bundleID, push.app.environment ?? .production)
            named[Place(app: push.app.id, bundleID: app, environment: environment), default: []].append(push.token)
            let caller = BudgetCaller(app: app, .name(push.token.hex))
            charges.append(Charge(budget: self.budgets[.matrixPushes], amount: 1, caller: caller))
        }
        // The bytes of a request for several apps are charged to none of them.
        let apps = Set(named.keys.map(\.bundleID))
        if apps.count == 1, let app = apps.first { try permit.move(to: BudgetCaller(app: app, client.identity)) }
        for (place, tokens) in named {
            let unknown = try await self.known.unknown(Set(tokens), of: place.app, in: place.environment)
            guard !unknown.isEmpty else { continue }
            let pushes = tokens.count(where: unknown.contains)
            let caller = BudgetCaller(app: place.bundleID, client.identity.site)
            charges.append(Charge(budget: self.budgets[.unknownTokens], amount: pushes, caller: caller))
        }
        try Charge.spend(charges)
    }

    private struct Charge {
        let budget: Budget
        let amount: Int
        let caller: BudgetCaller

        static func spend(_ charges: [Charge]) throws(BudgetRefusal) {
            for (index, charge) in charges.enumerated() {
                do {
                    try charge.budget.spend(charge.amount, for: charge.caller)
                } catch {
                    for spent in charges[..<index] { spent.budget.giveBack(spent.amount, for: spent.caller) }
                    throw error
                }
            }
        }
    }

    private func plans(for notification: MatrixNotification) async throws -> [MatrixTranslator.Plan] {
        do {
            return try self.plans(for: notification, try await self.apps.value)
        } catch let error as MatrixError where error.status == 502 {
            // A missing setting may have been added since the apps were read.
            return try self.plans(for: notification, try await self.apps.read())
        }
    }

    private func plans(
        for notification: MatrixNotification,
        _ apps: MatrixAppDirectory
    ) throws(MatrixError) -> [MatrixTranslator.Plan] {
        let translator = MatrixTranslator(apps: apps, forwardsAddresses: self.forwarder != nil)
        let now = self.time.now
        var plans: [MatrixTranslator.Plan] = []
        plans.reserveCapacity(notification.devices.count)
        for device in notification.devices { plans.append(try translator.plan(device, of: notification, now: now)) }
        return plans
    }

    /// Accepts a push by writing it into the ledger. A push whose payload is too long is dropped.
    /// - Returns: The reason for rejecting the pushkey, or `nil` if the push was accepted or dropped.
    private func accept(
        _ push: MatrixPush,
        _ device: MatrixDevice,
        _ arrival: Arrival
    ) async throws -> MatrixTranslator.Rejection? {
        let app = push.app.bundleID
        guard let payload = push.payload() else {
            self.note("Matrix notification dropped", device, "the payload is too large without its texts too", app)
            return nil
        }
        let checkedIn = arrival.begin.duration(to: .now).microseconds
        let request = await self.templates.request(for: push, now: arrival.at) ?? push.request(payload)
        let record = AcceptanceRecord(
            receivedAt: arrival.at,
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
            // Otherwise, the homeserver would repeat the request for a day and hold back all later ones.
            self.note("Matrix notification dropped", device, "\(error.code): \(error.message)", app)
            return nil
        }
        switch acceptance {
        case .accepted, .repeated: await self.keep(arrival.channel, push)
        case .inactiveToken: return .inactive
        case .conflict, .tokenOfOtherKind, .originalForgotten, .scheduleChanged, .issueWithdrawn, .sessionRemoved:
            self.note("Matrix notification dropped", device, "\(acceptance)", app)
        }
        return nil
    }

    /// Keeps the connection of a homeserver open if it has named a token to which a push was accepted before.
    private func keep(_ channel: any Channel, _ push: MatrixPush) async {
        guard !self.connections.isKept(channel) else { return }
        let tokenState = try? await self.store.tokenState(
            of: push.token,
            app: push.app.id,
            environment: push.app.environment ?? .production
        )
        guard tokenState == .reached else { return }
        let homeserver = BudgetCaller(clientOf: channel, app: push.app.bundleID)
        self.connections.keep(channel, for: push.token, of: push.app.id, homeserver)
    }

    /// Logs the result for a device. The log contains a hash instead of the pushkey.
    private func note(_ message: String, _ device: MatrixDevice, _ reason: String, _ app: Topic? = nil) {
        guard let omitted = self.log.admit(message, app: app) else { return }
        let metadata: Logger.Metadata = [
            "app_id": "\(device.appID.prefix(64))", "reason": "\(reason)",
            "pushkey_sha256": "\(MatrixPushkey.hash(device.pushkey))",
        ]
        self.log.write(.notice, message, metadata, omitted: omitted)
    }
}

extension MatrixPush {
    fileprivate func request(_ payload: Data) -> NotificationRequest {
        NotificationRequest(
            content: NotificationContent(
                topic: self.app.bundleID,
                pushType: self.pushType,
                tokenKind: .alert,
                priority: self.priority,
                expiration: self.expiration,
                collapseID: self.collapseID,
                payload: payload
            ),
            audience: .tokens([self.token]),
            environment: self.app.environment
        )
    }
}

/// Forwards notifications to UnifiedPush endpoints, whose addresses are the pushkeys of apps without Apple's push
/// service.
///
/// If there is a forwarder, the response to `GET /_matrix/push/v1/notify` tells apps that they may use such addresses.
protocol NotificationForwarder: Sendable {
    /// Forwards the body of a homeserver's request to an endpoint.
    /// - Parameters:
    ///   - body: The JSON exactly as the homeserver sent it.
    ///   - endpoint: The pushkey, which is a URL. Its address has not been checked.
    ///   - app: The app of the bridge.
    ///   - client: The homeserver.
    /// - Throws: An error after which the homeserver must repeat the request.
    func forward(
        _ body: [UInt8],
        to endpoint: String,
        of app: MatrixApp,
        for client: BudgetCaller
    ) async throws -> UnifiedPushOutcome
}

/// The outcome of a notification that was forwarded.
enum UnifiedPushOutcome: Hashable, Sendable {
    /// The outcome if the endpoint accepted the notification, or the notification was dropped because a repetition
    /// would fail too.
    case accepted
    /// The outcome if the endpoint no longer exists. The homeserver must remove the pushkey.
    case gone
}
