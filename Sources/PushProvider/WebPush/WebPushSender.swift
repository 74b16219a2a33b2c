import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ProviderModel
import PushSender
import PushStore
import PushSupport
import PushTypes
import PushWire

/// Sends the notifications of one app to browsers (RFC 8030), each encrypted for its subscription and signed.
struct WebPushSender: NotificationSender {
    let app: Int64
    let store: any WebPushStore
    let pool: WebPushClientPool
    let tokens: VAPIDTokenCache
    let addresses: AddressPolicy
    let limits: WebPushLimits
    let time: any TimeSource

    private struct Page: Sendable {
        var subscriptions: [DeviceToken: SubscriptionRecord]
        /// The VAPID keys of the app, the newest first.
        var keys: [VAPIDKeyRecord]
        /// The time after which no message of the page is sent, by the steady clock.
        var end: Timestamp
    }

    func send(_ pushes: [Push]) async -> [Outcome] { await self.follow(pushes, began: { _ in }).outcomes }

    func follow(_ pushes: [Push], began: (any PushCall) -> Void) async -> SentPushes {
        let call = SteppedCall(count: pushes.count)
        began(call)
        return SentPushes(outcomes: await self.send(pushes, call))
    }

    private func send(_ pushes: [Push], _ call: SteppedCall) async -> [Outcome] {
        let page: Page
        do {
            page = Page(
                subscriptions: try await self.store.subscriptions(app: self.app, tokens: pushes.map(\.token)),
                keys: try await self.store.vapidKeys(app: self.app),
                end: self.time.steady.advanced(by: self.limits.page)
            )
        } catch {
            return pushes.map { _ in .notSent(.init("the subscriptions cannot be read")) }
        }
        return await withTaskGroup(of: (Int, Outcome).self) { group in
            for (index, push) in pushes.enumerated() {
                group.addTask { (index, await self.send(push, of: page) { call.begins(index) }) }
            }
            var outcomes = Array(repeating: Outcome.notSent(.init("it has no outcome")), count: pushes.count)
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
    }

    private func send(_ push: Push, of page: Page, begins: @escaping @Sendable () -> Bool) async -> Outcome {
        guard let stored = page.subscriptions[push.token] else {
            return Self.refused("no subscription is stored for this token: the page must register it again")
        }
        let key = page.keys.first { $0.id == stored.vapidKey } ?? page.keys.first
        guard let key else { return Self.refused("the app has no VAPID key") }
        let url: WebhookAddress
        do throws(RequestError) {
            url = try WebhookAddress(stored.subscription.endpoint, policy: self.addresses)
        } catch {
            return Self.refused("the subscription's URL is not allowed: \(error.message)")
        }
        guard let origin = WebOrigin(url.url) else { return Self.refused("the subscription's URL has no origin") }
        return await self.pool.with(origin, app: self.app, url: url.url) { service in
            guard let service else { return .notSent(.init("the push service cannot be used now")) }
            return await service.gate.inTurn {
                guard self.time.steady < page.end else {
                    return .notSent(.init("the push service is too slow for all messages"))
                }
                guard begins() else { return .notSent(.takenBack) }
                if case .wait(let reason) = service.gate.admit(at: self.time.steady) { return .notSent(.init(reason)) }
                let (outcome, end) = await self.post(push, stored, key, url, origin, service)
                service.gate.ended(end, at: self.time.steady)
                return outcome
            }
        }
    }

    private func post(
        _ push: Push,
        _ stored: SubscriptionRecord,
        _ key: VAPIDKeyRecord,
        _ url: WebhookAddress,
        _ origin: WebOrigin,
        _ service: WebPushClient
    ) async -> (Outcome, PushServiceStateMachine.End) {
        let client: PinnedClient
        switch await service.client {
        case .success(let open): client = open
        case .failure(.addressNotAllowed(let reason)):
            return (Self.refused("the subscription's URL is not allowed: \(reason)"), .answered)
        case .failure(.resolverBusy(let reason)): return (.notSent(.init(reason)), .notSent)
        case .failure(let failure): return (.notSent(.init(failure.text)), .failed)
        }
        var request = HTTPClientRequest(url: url.url)
        do {
            let headers = WebPushMessage.headers(
                priority: push.notification.priority,
                expiration: push.notification.expiration,
                collapseID: push.notification.collapseID,
                now: self.time.now
            )
            request.method = .POST
            for (name, value) in headers { request.headers.add(name: name, value: value) }
            request.headers.add(name: "user-agent", value: "martlet")
            let authorization = try self.tokens.authorization(key, for: origin, now: self.time.now)
            request.headers.add(name: "authorization", value: authorization)
            let content = Array(push.notification.payload.readableBytesView)
            request.body = .bytes(ByteBuffer(bytes: try stored.subscription.keys.seal(content)))
        } catch {
            return (Self.refused("the message cannot be encrypted or signed"), .answered)
        }
        let response: HTTPClientResponse
        do throws(PinnedClientFailure) {
            response = try await client.execute(request, deadline: self.limits.deadline)
        } catch {
            switch error {
            case .addressNotAllowed(let reason): return (Self.refused(reason), .answered)
            case .noConnection(let reason): return (.notSent(.init(reason)), .failed)
            case .resolverBusy(let reason): return (.notSent(.init(reason)), .notSent)
            case .noResponse, .tooLong: return (.unknown(.init(error.text)), .failed)
            }
        }
        return await self.read(response, id: push.notification.id)
    }

    /// Reads a response. Its status determines the outcome even if the body cannot be read.
    private func read(_ response: HTTPClientResponse, id: String) async -> (Outcome, PushServiceStateMachine.End) {
        let after = RetryAfter.read(response.headers.first(name: "retry-after"), now: self.time.now)
        let status = Int(response.status.code)
        let result = WebPushOutcome(status: status, retryAfter: after, body: await response.shortBody())
        let own = response.headers.first(name: "apns-id").flatMap { $0.utf8.count <= 64 ? $0 : nil }
        let isThrottled = status == 429 || status == 503
        return (result.outcome(id: own ?? id), isThrottled ? after.map { .throttled($0) } ?? .answered : .answered)
    }

    /// Returns the outcome of a message that no further attempt could deliver.
    private static func refused(_ reason: String) -> Outcome { .rejected(Rejection(status: 400, reasonText: reason)) }
}

extension HTTPClientResponse {
    /// Returns the body of a response if it is short and arrives within a second, or an empty array otherwise.
    fileprivate func shortBody() async -> [UInt8] {
        let body = try? await withTimeLimit(.seconds(1)) {
            try await self.body.collect(upTo: WebPushOutcome.maximumBody)
        }
        return body.map { Array($0.readableBytesView) } ?? []
    }
}
