import Foundation
import Fuzzing
import ProviderModel
import PushSupport
import PushTypes

@testable import PushBridges

/// Fuzzes bodies of Matrix homeservers.
@main
enum MatrixFuzz {
    static func main() {
        guard let translators = Self.translators() else { preconditionFailure("the settings are valid") }
        Fuzzer.run { input in
            guard let notification = try? MatrixNotification(parsing: Array(input)) else { return }
            precondition(notification.devices.count <= MatrixNotification.maximumDevices, "devices")
            for translator in translators {
                for device in notification.devices { Self.check(device, notification, translator) }
            }
        }
    }

    /// Returns translators for an app that wants everything, and for one that wants nothing.
    private static func translators() -> [MatrixTranslator]? {
        guard let topic = Topic("com.example.MyApp") else { return nil }
        let wishes: [[String: JSONValue]] = [
            ["sound": .bool(true), "collapse": .bool(true), "unifiedPush": .bool(true)], ["counts": .bool(false)],
        ]
        return try? wishes.map { members in
            let settings = try MatrixSettings(JSONFields(.object(members), known: MatrixSettings.object.known))
            let app = MatrixApp(
                name: "*",
                id: 1,
                bundleID: topic,
                environment: nil,
                settings: settings,
                hasCredential: true
            )
            return MatrixTranslator(apps: MatrixAppDirectory([app]), forwardsAddresses: true)
        }
    }

    /// Checks that a push keeps the rules of the push service.
    private static func check(
        _ device: MatrixDevice,
        _ notification: MatrixNotification,
        _ translator: MatrixTranslator
    ) {
        guard
            case .push(let push)? = try? translator.plan(
                device,
                of: notification,
                now: Timestamp(seconds: 1_700_000_000)
            )
        else { return }
        guard let payload = push.payload() else { return }
        precondition(payload.count <= MatrixTranslator.maximumKept, "\(payload.count) bytes")
        precondition((32...DeviceToken.maximumLength).contains(push.token.bytes.count), "a token")
        precondition(push.collapseID.map { (1...64).contains($0.utf8.count) } ?? true, "collapse id")
        precondition(push.pushType == .alert || push.priority == .powerAware, "a background push of priority 10")
        guard case .object(let members)? = try? JSONValue(parsing: payload) else {
            preconditionFailure("no object")
        }
        if push.pushType == .background {
            precondition(members["aps"]?["content-available"] == .integer(1), "a silent push that wakes nothing")
        }
        // A text that could be cut leaves no payload too long.
        if payload.count > push.pushType.maximumPayloadSize, let alert = push.content.alert {
            precondition(
                members["aps"]?["alert"]["loc-args"] == .array(alert.arguments.map { _ in .string("") }),
                "a payload of \(payload.count) bytes has texts"
            )
        }
    }
}
