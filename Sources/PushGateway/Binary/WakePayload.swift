import Foundation
import NIOCore

/// Tells pushes that only wake the app from those that the user sees or hears (reference 5.1, 7.5).
enum WakePayload {
    private static let key = Array("content-available".utf8)
    private static let visibleKeys = ["alert", "badge", "sound"]

    /// Whether `payload` has `content-available` and nothing to show. Text that is no JSON has neither.
    static func isOnlyWake(_ payload: ByteBuffer) -> Bool {
        // Most payloads have no such key: looking for it is cheaper than reading all.
        guard payload.readableBytesView.firstRange(of: Self.key) != nil,
            let object = try? JSONSerialization.jsonObject(with: Data(payload.readableBytesView)) as? [String: Any],
            let aps = object["aps"] as? [String: Any], (aps["content-available"] as? NSNumber)?.intValue == 1
        else { return false }
        return Self.visibleKeys.allSatisfy { aps[$0] == nil }
    }
}
