import Foundation
import Fuzzing
import ProviderModel
import PushSupport
import PushTypes

@testable import PushBridges

/// Fuzzes the bodies of FCM's clients, conditions over topics, and batches of tokens. The first byte of an input
/// selects one.
@main
enum FCMFuzz {
    /// The stack of a thread on some systems, in bytes.
    private static let stackSize = 512 * 1024

    static func main() {
        Fuzzer.run(stackSize: Self.stackSize) { input in
            let rest = Data(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 0: Self.message(rest)
            case 1: Self.condition(String(decoding: rest, as: UTF8.self))
            case nil: break
            default: Self.batches(rest)
            }
        }
    }

    /// Checks that a message is a push that the provider accepts, or has an error that can be written.
    private static func message(_ body: Data) {
        guard let app = Topic("com.example.MyApp") else { return }
        do throws(FCMError) {
            let content = try FCMMessage(body).push(to: app, now: Timestamp(seconds: 1_700_000_000)).content
            precondition((try? JSONValue(parsing: content.payload)) != nil, "the payload is no JSON")
            precondition(content.payload.count <= 5120, "\(content.payload.count) bytes")
        } catch {
            precondition(error.status >= 400 && !error.name.isEmpty && (try? error.json.text) != nil)
        }
    }

    /// Checks that a condition is an audience that the store can keep.
    private static func condition(_ text: String) {
        guard let audience = try? FCMCondition(text).audience else { return }
        guard AudienceExpression(stored: audience.json) == audience else {
            preconditionFailure("not the same again: \(text)")
        }
    }

    private static func batches(_ body: Data) {
        if let batch = try? TopicBatch(body) {
            precondition((1...TopicBatch.maximumTokens).contains(batch.tokens.count))
            precondition(FCMTopic.name(ofTag: FCMTopic.tag(batch.topic)) == batch.topic)
        }
        if let batch = try? ImportBatch(body) {
            precondition((1...ImportBatch.maximumTokens).contains(batch.texts.count))
        }
    }
}
