import Foundation
import NIOCore
import PushTypes

/// Reads the answer of a push service (reference 1.8).
enum PushResponse {
    private struct Body: Decodable {
        var reason: String?
        /// Milliseconds.
        var timestamp: Int64?
    }

    /// A body that is no such JSON leaves the reason empty: the status alone then decides.
    static func rejection(_ reply: HTTP2Response) -> Rejection {
        let content = Self.content(reply.body)
        return Rejection(
            status: reply.head.status,
            reasonText: content?.reason ?? "",
            timestamp: content?.timestamp.map(Timestamp.init(milliseconds:)),
            retryAfter: reply.head.retryAfter.flatMap(UInt32.init).map { .seconds(Int64($0)) }
        )
    }

    /// The member `reason` of a JSON object, or an empty text.
    static func reasonText(_ body: [UInt8]) -> String {
        Self.content(body)?.reason ?? ""
    }

    private static func content(_ body: [UInt8]) -> Body? {
        body.first == UInt8(ascii: "{") ? try? JSONDecoder().decode(Body.self, from: Data(body)) : nil
    }
}
