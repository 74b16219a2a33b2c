import Foundation
import NIOCore

/// Distinguishes pushes that only wake the app from those that the user sees or hears (reference 5.1, 7.5).
enum WakePayload {
    private static let key: StaticString = "content-available"
    /// The index of the hyphen in `content-available`, by which the key is found in a payload.
    private static let hyphen = 7
    private static let visibleKeys = ["alert", "badge", "sound"]

    /// Returns whether `payload` has `content-available` and nothing to show. Returns `false` for data that is not
    /// JSON.
    static func isOnlyWake(_ payload: ByteBuffer) -> Bool {
        // Most payloads lack the key, and a search is much cheaper than parsing.
        guard self.mayWake(payload),
            let object = try? JSONSerialization.jsonObject(with: Data(payload.readableBytesView)) as? [String: Any],
            let aps = object["aps"] as? [String: Any], (aps["content-available"] as? NSNumber)?.intValue == 1
        else { return false }
        return Self.visibleKeys.allSatisfy { aps[$0] == nil }
    }

    /// Returns whether the payload may contain `content-available`. The hyphen is searched for, because hyphens are
    /// rare in payloads.
    private static func mayWake(_ payload: ByteBuffer) -> Bool {
        payload.withUnsafeReadableBytes { bytes in
            guard let start = bytes.baseAddress else { return false }
            let length = Self.key.utf8CodeUnitCount
            var offset = Self.hyphen
            while offset + length - Self.hyphen <= bytes.count {
                guard let found = memchr(start + offset, CInt(UInt8(ascii: "-")), bytes.count - offset) else {
                    return false
                }
                let position = UnsafeRawPointer(found) - start
                let begin = position - Self.hyphen
                guard begin + length <= bytes.count else { return false }
                if memcmp(start + begin, Self.key.utf8Start, length) == 0 { return true }
                offset = position + 1
            }
            return false
        }
    }
}
