import Foundation
import NIOCore
import NIOHPACK
import PushProtocol

/// The answer to a push request (reference 1.8).
struct PushAnswer: Hashable, Sendable {
    enum Result: Hashable, Sendable {
        case accepted(uniqueID: String?)
        /// `timestamp` only with 410.
        case refused(Reason, timestamp: Timestamp?)
    }

    var apnsID: String
    var result: Result

    var headers: HPACKHeaders {
        switch self.result {
        case .accepted(let uniqueID):
            var headers: HPACKHeaders = [":status": "200", "apns-id": self.apnsID]
            if let uniqueID { headers.add(name: "apns-unique-id", value: uniqueID) }
            return headers
        case .refused(let reason, _):
            return [
                ":status": "\(reason.status)", "apns-id": self.apnsID, "content-type": "application/json",
            ]
        }
    }

    /// `nil` for success, which has no body.
    var body: ByteBuffer? {
        guard case .refused(let reason, let timestamp) = self.result else { return nil }
        // The reasons are words of ours: nothing to escape.
        let time = timestamp.map { #","timestamp":\#($0.milliseconds)"# } ?? ""
        return ByteBuffer(string: #"{"reason":"\#(reason.text)"\#(time)}"#)
    }
}
