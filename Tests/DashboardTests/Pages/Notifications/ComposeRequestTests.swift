import PushSupport
import PushTesting
import Testing

@testable import Dashboard

@Suite struct ComposeRequestTests {
    private static func form(_ values: [String: String]) -> ComposeForm {
        var form = ComposeForm()
        form.values = ["body": "Hi", "when": "now"].merging(values) { $1 }
        return form
    }

    @Test(arguments: [
        (["audience": "user", "user": "alice"], true),
        (["audience": "user", "user": "alice", "locale": "de"], true),
        (["audience": "user", "user": "", "more": #"{"to":{"all":true}}"#], false),
        (["audience": "user", "user": ""], false),
        (["audience": "all"], false),
        (["audience": "json", "expression": #"{"user":"alice"}"#], true),
        (["audience": "json", "expression": #"{"or":[{"user":"alice"},{"all":true}]}"#], false),
        (["audience": "json", "expression": #"{"user":["alice","bob"]}"#], false),
    ])
    func itIsForOneUserIfItsAudienceIs(_ values: [String: String], _ isForOne: Bool) throws {
        #expect(try ComposeRequest(Self.form(values), isRecurring: false).isForOneUser == isForOne)
    }

    @Test(arguments: [
        (["when": "now"], false), (["when": "at", "at": "2026-11-25T09:00"], true),
        (["when": "now", "more": #"{"when":{"at":"2026-11-25T09:00:00Z"}}"#], true),
        (["when": "now", "windowFrom": "09:00", "windowTo": "10:00"], false),
    ])
    func itIsLaterIfItNamesATime(_ values: [String: String], _ isLater: Bool) throws {
        #expect(try ComposeRequest(Self.form(values), isRecurring: false).isLater == isLater)
    }

    @Test func furtherMembersCountWhereTheFormNamesNothing() throws {
        let more = #"{"environment":"sandbox","consentCategory":"news"}"#
        let body = try ComposeRequest(Self.form(["audience": "all", "more": more]), isRecurring: false).notification
        #expect(body["environment"] == "sandbox" && body["consentCategory"] == "news")
    }

    @Test func aChangedScheduleKeepsWhatNoFieldShows() throws {
        let stored: JSONValue = [
            "name": "weekly",
            "schedule": ["cron": "0 9 * * mon", "timeZone": "UTC", "missedRuns": "runAll", "maximumRuns": 3],
            "notification": ["name": "Digest", "alert": "Hi", "to": ["all": true]],
        ]
        let form = Self.form(["name": "daily", "audience": "all", "frequency": "daily", "time": "10:00"])
        let wanted = try ComposeRequest(form, isRecurring: true, stored: stored)
        #expect(
            wanted.schedule?["schedule"]
                == ["cron": "0 10 * * *", "timeZone": "UTC", "missedRuns": "runAll", "maximumRuns": 3]
        )
        #expect(wanted.schedule?["name"] == "daily" && wanted.notification["name"] == "Digest")
        let unnamed = stored["notification"].merging(["name": .null])
        let other = try ComposeRequest(form, isRecurring: true, stored: stored.merging(["notification": unnamed]))
        #expect(other.notification["name"] == .null)
    }
}
