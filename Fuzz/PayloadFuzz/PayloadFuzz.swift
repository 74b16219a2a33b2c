import Foundation
import Fuzzing
import ProviderModel
import PushStore
import PushSupport
import PushTypes

@testable import PushProvider

/// Fuzzes JSON of callers: values, requests with their payloads, and attributes of devices in a payload. The first byte of an input
/// selects one. It runs on a small stack because of deep nesting.
@main
enum PayloadFuzz {
    /// The stack of a thread on some systems, in bytes.
    private static let stackSize = 512 * 1024
    /// The deepest nesting that is accepted.
    private static let maximumDepth = 64

    static func main() {
        Fuzzer.run(stackSize: Self.stackSize) { input in
            let rest = Data(input.dropFirst())
            switch input.first.map({ $0 & 3 }) {
            case 0: Self.request(rest)
            case 1: Self.deepValue(rest)
            case 3: Self.attributes(rest)
            case nil: break
            default: Self.value(rest)
            }
        }
    }

    private static func value(_ text: Data) {
        guard let value = try? JSONValue(parsing: text) else { return }
        precondition(value.depth <= Self.maximumDepth, "too deep: \(value.depth)")
        guard let written = try? value.text else { preconditionFailure("cannot be written: \(value)") }
        guard let again = try? JSONValue(parsing: written) else {
            preconditionFailure("cannot be read again: \(String(decoding: written, as: UTF8.self))")
        }
        precondition(again.means(value), "not the same again: \(String(decoding: written, as: UTF8.self))")
    }

    /// Checks nesting. The first two bytes are its depth and its kind.
    private static func deepValue(_ input: Data) {
        guard input.count >= 2, let kinds = input.first else { return }
        let bytes = Array(input)
        let depth = Int(bytes[1])
        let isArray = (0..<depth).map { kinds >> UInt8($0 % 8) & 1 == 0 }
        let start = isArray.map { $0 ? "[" : #"{"a":"# }.joined()
        let end = isArray.reversed().map { $0 ? "]" : "}" }.joined()
        Self.value(Data(start.utf8) + Data(bytes.dropFirst(2)) + Data(end.utf8))
    }

    /// Checks that an accepted payload is JSON within the limit and keeps its members. A template is checked with its shortest
    /// payload.
    private static func request(_ body: Data) {
        let now = Timestamp(milliseconds: 1_700_000_000_000)
        guard let topic = Topic("com.example.MyApp"),
            let content = try? NotificationRequest(parsing: body, bundleID: topic, now: now).content
        else { return }
        guard let renderer = try? ContentRenderer(content) else {
            preconditionFailure("the accepted content cannot be rendered")
        }
        for (_, payload) in renderer.samples() {
            precondition(payload.count <= content.pushType.maximumPayloadSize, "too large")
            guard case .object(let members) = try? JSONValue(parsing: Data(payload)) else {
                preconditionFailure("the payload is no object")
            }
            if !content.isTemplate, case .object(let raw) = (try? JSONValue(parsing: body))?.member("payload") {
                precondition(raw == members, "the payload has changed")
            }
        }
    }

    /// Checks that a payload keeps its structure for any attributes.
    private static func attributes(_ text: Data) {
        guard let topic = Topic("com.example.MyApp") else { return }
        let template =
            #"{"payload":{"aps":{"alert":"{{a|d}}"},"x":"{{b|}}{{user|}}"},"variables":true,"version":1}"#
        let content = NotificationContent(
            topic: topic,
            pushType: .alert,
            priority: .immediate,
            expiration: .servicePolicy,
            collapseID: nil,
            payload: Data(template.utf8),
            isTemplate: true
        )
        guard var renderer = try? ContentRenderer(content) else { preconditionFailure("the content cannot be read") }
        let profile = RecipientProfile(user: String(decoding: text, as: UTF8.self), attributes: text)
        guard let payload = try? renderer.render(for: profile, badge: nil) else { return }
        guard case .object(let members) = try? JSONValue(parsing: Data(payload)), members.count == 2,
            case .object(let aps)? = members["aps"], aps.count == 1, case .string? = aps["alert"],
            case .string? = members["x"]
        else { preconditionFailure("not the same form: \(String(decoding: payload, as: UTF8.self))") }
    }
}

extension JSONValue {
    /// Tells whether two values are equal, if a number may be read as an integer after it was written: 92233922337203680.405
    /// has no fraction as a `Double`.
    fileprivate func means(_ other: JSONValue) -> Bool {
        switch (self, other) {
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            Double(integer) == number
        case (.array(let left), .array(let right)):
            left.count == right.count && zip(left, right).allSatisfy { $0.means($1) }
        case (.object(let left), .object(let right)):
            left.count == right.count && left.allSatisfy { name, value in right[name].map(value.means) ?? false }
        default: self == other
        }
    }

    fileprivate var depth: Int {
        switch self {
        case .array(let values): 1 + (values.map(\.depth).max() ?? 0)
        case .object(let members): 1 + (members.values.map(\.depth).max() ?? 0)
        default: 0
        }
    }

    fileprivate func member(_ name: String) -> JSONValue? {
        if case .object(let members) = self { members[name] } else { nil }
    }
}
