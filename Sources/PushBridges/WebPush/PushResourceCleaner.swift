import Foundation
import Logging
import NIOHTTP1
import ProviderModel
import PushProvider
import PushStore
import PushSupport
import PushTypes
import ServiceLifecycle
import Synchronization

/// Removes the push resources, which are Web Push endpoints, of installations that no longer have an active device,
/// after notifying their senders. It also removes expired messages.
final class PushResourceCleaner: Service {
    /// The pause between two rounds of cleaning.
    static let interval: Duration = .seconds(60)
    /// The maximum numbers of push resources of one app in one round, and of messages in one transaction.
    static let (perApp, messages) = (20, 1000)
    /// The number of failed attempts to notify a sender after which its push resource is removed without notification.
    private static let tries = 5

    private let store: any PushResourceStore & AppStore
    private let client: RestrictedHTTPClient
    /// The budget of requests to hosts that unauthenticated clients name. Requests for an app's push resources are
    /// charged to the app as one caller.
    private let forwards: Budget
    private let time: any TimeSource
    private let logger: Logger
    /// The number of failed attempts to notify the sender, by the id of the push resource.
    private let failures = Mutex<[UUID: Int]>([:])

    init(
        store: any PushResourceStore & AppStore,
        client: RestrictedHTTPClient,
        forwards: Budget,
        time: any TimeSource,
        logger: Logger
    ) {
        (self.store, self.client, self.forwards) = (store, client, forwards)
        (self.time, self.logger) = (time, logger)
    }

    func run() async throws {
        await withTaskCancellationOrGracefulShutdownHandler {
            while !Task.isCancelled, !Task.isShuttingDownGracefully {
                do {
                    // A sender that does not respond must not delay shutdown. It is notified after the next start.
                    try await cancelWhenGracefulShutdown { try await self.clean() }
                } catch is CancellationError {
                    break
                } catch {
                    self.logger.error("push resources cannot be cleaned", metadata: ["error": "\(error)"])
                }
                try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.interval) }
            }
        } onCancelOrGracefulShutdown: {
        }
    }

    /// Carries out one round of cleaning. Senders that cannot be notified now are notified in a later round.
    func clean() async throws {
        let ended = try await self.store.endedPushResources(perApp: Self.perApp)
        var apps: [Int64: Topic] = [:]
        for app in Set(ended.map(\.app)) { apps[app] = (try? await self.store.app(id: app))?.bundleID }
        let told = await withTaskGroup(of: PushResourceRecord?.self) { group in
            for resource in ended {
                let (count, app) = (resource.unsubscribeURL == nil ? 0 : 1, apps[resource.app])
                // If the budget is exhausted, the sender is notified in a later round.
                guard let place = try? self.forwards.take(count, for: BudgetCaller(app: app)) else { continue }
                group.addTask {
                    defer { place.end() }
                    return await self.tell(resource) ? resource : nil
                }
            }
            return await group.reduce(into: [PushResourceRecord]()) { all, one in if let one { all.append(one) } }
        }
        try await self.store.removeEnded(told)
        self.failures.withLock { failures in
            let left = Set(ended.map(\.id)).subtracting(told.map(\.id))
            failures = failures.filter { left.contains($0.key) }
        }
        while try await self.store.removePushMessages(expiredAt: self.time.reading.earlier, limit: Self.messages)
            == Self.messages
        {}
    }

    /// Notifies the sender of a push resource that the resource no longer exists.
    ///
    /// A host name that cannot be resolved in the time allotted to it counts as a failed attempt. Otherwise, slow names
    /// would delay the other push resources of their app.
    /// - Returns: `true` if the push resource can now be removed.
    private func tell(_ resource: PushResourceRecord) async -> Bool {
        guard let url = resource.unsubscribeURL else { return true }
        do throws(PinnedClientFailure) {
            let headers: HTTPHeaders = ["user-agent": "martlet"]
            let response = try await self.client.request(.DELETE, url, headers: headers, app: resource.app)
            if response.status < 500, response.status != 429 { return true }
        } catch {
            if case .addressNotAllowed = error { return true }
        }
        return self.failures.withLock { failures in
            failures[resource.id, default: 0] += 1
            return failures[resource.id, default: 0] >= Self.tries
        }
    }
}
