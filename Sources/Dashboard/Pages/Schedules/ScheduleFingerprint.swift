import Crypto
import Foundation
import ProviderAPI
import ProviderModel
import PushHTTP
import PushSupport
import WebPages

/// A hash of a schedule's settings, by which the page detects that another person has changed the schedule while a form
/// was open.
enum ScheduleFingerprint {
    /// Checks that the schedule has not changed since the posted form was shown. A form without a fingerprint passes.
    /// - Throws: ``RequestError`` if the schedule has changed.
    static func check(_ stored: ScheduleResponse, _ request: PageRequest) throws(RequestError) {
        guard let seen = request.form["fingerprint"], seen != Self.of(stored) else { return }
        throw PageError.changedMeanwhile.error(request.texts["schedules.changedMeanwhile"], kind: .conflict)
    }

    /// Returns the fingerprint to write into the form: that of `stored`, from which the form was filled, or for `nil`
    /// the one that was posted. If `error` states that another person has changed the schedule, it is that of the
    /// changed schedule, which the form can then replace.
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
