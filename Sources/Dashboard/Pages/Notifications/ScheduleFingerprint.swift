import Crypto
import Foundation
import PushSupport

/// A digest of what people set of a schedule, by which a form notices that somebody else has changed it.
enum ScheduleFingerprint {
    /// - Parameter schedule: The schedule in a response of the API.
    static func of(_ schedule: JSONValue) -> String {
        let members = ["name", "schedule", "notification"].map { schedule[$0] }
        let text = (try? JSONValue.array(members).text) ?? Data()
        return Data(SHA256.hash(data: text)).base64EncodedString()
    }
}
