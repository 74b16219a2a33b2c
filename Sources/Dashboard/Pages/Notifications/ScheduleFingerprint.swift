import Crypto
import Foundation
import ProviderAPI
import PushStore
import PushSupport

/// A digest of what people set of a schedule, by which a form notices that somebody else has changed it.
enum ScheduleFingerprint {
    static func of(_ response: ScheduleResponse) -> String {
        let schedule = response.schedule
        let members: [JSONValue] = [.string(schedule.name), schedule.rule.json, response.notification]
        let text = (try? JSONValue.array(members).text) ?? Data()
        return Data(SHA256.hash(data: text)).base64EncodedString()
    }
}
