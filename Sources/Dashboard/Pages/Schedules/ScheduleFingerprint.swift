import Crypto
import Foundation
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// A digest of the settings of a schedule, by which a form detects that another person has changed the schedule.
enum ScheduleFingerprint {
    /// Checks that nobody has changed a schedule since the form of a request was shown.
    /// - Throws: ``RequestError`` if it was changed.
    static func check(_ stored: ScheduleResponse, _ request: PageRequest) throws(RequestError) {
        guard let seen = request.form["fingerprint"], seen != Self.of(stored) else { return }
        throw PageError.changedMeanwhile.error(request.texts["schedules.changedMeanwhile"], kind: .conflict)
    }

    /// Returns the fingerprint of the schedule that the form was made from. After the error that another person has
    /// changed the schedule, it is the fingerprint of the changed one, so that the form may replace it.
    static func shown(
        _ stored: ScheduleResponse?,
        _ request: PageRequest,
        _ error: RequestError?
    ) async throws -> String {
        if let stored { return Self.of(stored) }
        if let seen = request.form["fingerprint"], error?.code != PageError.changedMeanwhile.rawValue { return seen }
        return Self.of(try await request.schedule())
    }

    private static func of(_ response: ScheduleResponse) -> String {
        let schedule = response.schedule
        let members: [JSONValue] = [.string(schedule.name), schedule.rule.json, response.notification]
        let text = (try? JSONValue.array(members).text) ?? Data()
        return Data(SHA256.hash(data: text)).base64EncodedString()
    }
}
