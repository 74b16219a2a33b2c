import PushHTTP
import PushStore
import PushSupport
import WebPages

/// The requests that pages make about their app, and what their caller may do.
extension PageRequest {
    /// The bundle id of the page's app.
    var app: String { self.parameter("app") }

    /// Returns the path of an app below ``Dashboard/root``. With `/v1` before it, it is the app's path in the API.
    static func appPath(_ app: String) -> String { "/apps/\(FormText.encoded(app))" }

    /// Returns a GET for part of the app in the API.
    func getOfApp(_ path: String) async throws -> JSONValue { try await self.get("\(self.api)\(path)") }

    /// Returns the schedule that the path names.
    ///
    /// - Throws: ``RequestError``, also for one of another app.
    func schedule() async throws -> JSONValue {
        let schedule = try await self.get("/v1/schedules/\(FormText.encoded(self.parameter("schedule")))")
        guard schedule["app"].stringValue == self.app else { throw RequestError.noSuch("schedule") }
        return schedule
    }

    /// The variable `may`: what the caller's scopes allow.
    var permissions: PageModel {
        [
            "send": self.may(.send), "register": self.may(.register), "operate": self.may(.operate),
            "admin": self.may(.admin),
        ]
    }
}
