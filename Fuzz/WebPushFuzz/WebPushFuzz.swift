import Foundation
import Fuzzing
import PushSupport
import PushTypes

import struct MartletKit.SubscriptionKeys

@testable import struct MartletKit.PushedMessage
@testable import PushWire

/// Fuzzes what senders and browsers hand over for Web Push. The first byte of an input selects one: an encrypted body, the
/// headers of a request, an identification, or a subscription.
@main
enum WebPushFuzz {
    static func main() {
        Fuzzer.run { input in
            let rest = Array(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 0: Self.body(rest)
            case 1: Self.request(rest)
            case 2: Self.credential(rest)
            case nil: break
            default: Self.subscription(rest)
            }
        }
    }

    private static let keys = SubscriptionKeys(representation: Data(repeating: 7, count: 48))

    /// Checks that nothing opens which was not sealed, and that the app opens what the provider seals.
    private static func body(_ bytes: [UInt8]) {
        func open(_ body: [UInt8]) -> [UInt8]? {
            Self.keys?.open(PushedMessage([:], body: Data(body))).map { Array($0) }
        }
        precondition(open(bytes) == nil, "opened: \(bytes)")
        guard let keys = Self.keys, bytes.count <= WebPushKeys.maximumContent,
            let sealed = try? WebPushKeys(publicKey: Array(keys.publicKey), secret: Array(keys.secret))?.seal(bytes)
        else { return }
        precondition(open(sealed) == bytes, "not the same after sealing: \(bytes)")
    }

    /// Reads lines as header fields. An accepted request keeps the limits.
    private static func request(_ bytes: [UInt8]) {
        var fields: [String: [String]] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let pair = line.split(separator: ":", maxSplits: 1)
            guard pair.count == 2 else { continue }
            fields[pair[0].lowercased(), default: []].append(String(pair[1]))
        }
        guard let request = try? WebPushRequest(hasBody: bytes.count & 1 == 0, values: { fields[$0] ?? [] }) else {
            return
        }
        precondition(request.ttl <= 1 << 31)
        if let topic = request.topic { precondition((1...WebPushRequest.maximumTopic).contains(topic.utf8.count)) }
        if case .aesgcm(let salt, let key) = request.coding { precondition(salt.count == 16 && key.count == 65) }
    }

    /// Checks that no identification is accepted that was not signed.
    private static func credential(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let origin = WebOrigin(text) {
            precondition(WebOrigin(origin.description) == origin, "not the same again: \(text)")
        }
        let lines = text.split(separator: "\n", maxSplits: 1).map(String.init)
        let credential = VAPIDCredential(authorization: lines.first, cryptoKey: lines.dropFirst().first)
        guard let credential, let origin = WebOrigin("https://push.example.net") else { return }
        precondition(credential.publicKey.count == WebPushKeys.publicLength)
        // The example of RFC 8292 is in the corpus, and valid until this time.
        let now = Timestamp(seconds: 1_453_523_768)
        try? credential.check(key: credential.publicKey, origin: origin, now: now)
    }

    /// Checks that an accepted subscription is the same after it is stored.
    private static func subscription(_ bytes: [UInt8]) {
        if let stored = WebPushSubscription(text: String(decoding: bytes, as: UTF8.self)) {
            precondition(WebPushSubscription(text: stored.text) == stored)
        }
        guard let json = try? JSONValue(parsing: Data(bytes)),
            let subscription = try? WebPushSubscription(json, at: "subscription")
        else { return }
        precondition(subscription.endpoint.utf8.count <= WebPushSubscription.maximumEndpoint)
        precondition(WebPushSubscription(text: subscription.text) == subscription)
    }
}
