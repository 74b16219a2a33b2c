import ProviderAPI
import PushHTTP
import PushStore
import PushSupport
import PushTypes
import WebPages

/// The requests that pages make about their app, and what their caller may do.
extension PageRequest {
    /// The bundle id of the page's app.
    var app: String { self.parameter("app") }

    /// Returns the path of an app below ``Dashboard/root``. With `/v1` before it, it is the app's path in the API.
    static func appPath(_ app: String) -> String { "/apps/\(URLText.encoded(app))" }

    /// Returns the schedule that the path names.
    ///
    /// - Throws: ``RequestError``, also for one of another app.
    func schedule() async throws -> ScheduleResponse {
        let path = "/v1/schedules/\(URLText.encoded(self.parameter("schedule")))"
        let response = try await self.get(path, as: ScheduleResponse.self)
        guard response.app.name == self.app else { throw RequestError.noSuch("schedule") }
        return response
    }

    /// The variable `may`: what the caller's scopes allow.
    var permissions: PageModel {
        [
            "send": self.may(.send), "register": self.may(.register), "operate": self.may(.operate),
            "admin": self.may(.admin),
        ]
    }
}
