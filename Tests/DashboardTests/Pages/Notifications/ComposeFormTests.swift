import PushSupport
import PushTesting
import Testing

@testable import Dashboard

@Suite struct ComposeFormTests {
    /// Requests that the form shows completely: reading one and making it again changes nothing.
    private static let requests: [JSONValue] = [
        ["name": "a", "to": ["tag": "beta", "locale": "de"], "alert": ["title": "T", "body": "B"]],
        ["name": "a", "to": ["all": true], "alert": ["body": "B"], "badge": "+1", "environment": "sandbox"],
        ["name": "a", "to": ["user": "x"], "alert": ["body": "B", "locKey": "K"], "expiration": 0, "badge": 3],
        ["name": "a", "to": ["locale": "de"], "payload": ["aps": ["alert": "x"]], "urgent": true],
        ["name": "a", "to": ["or": [["tag": "a"], ["tag": "b"]]], "alert": ["body": "B"], "expiresIn": "6h"],
        [
            "name": "a", "to": ["named": "n"], "alert": ["body": "B"],
            "pace": ["waves": ["size": 10, "intervalSeconds": 60]],
            "data": ["attachment": "https://e.example/1.png", "x": ["y": 1]], "mutableContent": true,
            "localizations": ["de": ["title": "T", "sound": "s"], "fr": ["body": "B"]],
        ],
        [
            "name": "a", "to": ["user": "x"], "alert": ["body": "B"], "quietHours": "ignore", "guarantee": "atMostOnce",
            "when": [
                "localTime": "2026-11-25T09:00", "past": "skip",
                "window": ["from": "09:00", "to": "18:00", "days": ["mon", "tue"]],
                "quietHours": ["from": "12:00", "to": "13:00"],
            ],
        ],
        [
            "name": "a", "to": ["user": "x"], "alert": ["body": "B"],
            "when": ["localTime": "2026-11-25T09:00", "timeZone": "Europe/Berlin"],
        ],
        [
            "name": "a", "to": ["user": "x"], "alert": ["body": "B"], "when": ["at": "2026-11-25T09:00:00Z"],
            "pace": ["rate": 5],
        ],
    ]

    @Test(arguments: requests)
    func aRequestSurvivesTheForm(_ request: JSONValue) throws {
        #expect(try ComposeForm(request: request).request() == request)
    }

    @Test func theLanguageNarrowsEveryAudience() throws {
        var form = ComposeForm()
        (form["audience"], form["tag"], form["locale"]) = ("tag", "beta", "de")
        #expect(try form.audienceMember() == ["tag": "beta", "locale": "de"])
        (form["audience"], form["expression"]) = ("json", "{\"activity\":\"x\"}")
        #expect(try form.audienceMember() == ["and": [["activity": "x"], ["locale": "de"]]])
        form["audience"] = "all"
        #expect(try form.audienceMember() == ["locale": "de"])
        (form["audience"], form["user"]) = ("user", " ")
        #expect(try form.audienceMember() == nil)
    }

    @Test func whatIsTypedAsJSONNamesItsField() {
        for (field, text) in [("data", "{"), ("more", "[1]"), ("data", "7")] {
            var form = ComposeForm()
            form[field] = text
            #expect(throws: RequestError.self) { try form.contentMembers() }
        }
    }

    @Test(arguments: [
        ("alert.title", "title"), ("to.tag", "tag"), ("to", "tag"), ("localizations.de.title", "title0"),
        ("localizations.de.alert", "language0"), ("localizations.fr.title", "more"), ("when.window.from", "windowFrom"),
        ("pace.waves.size", "waveSize"), ("notification.badge", "badge"), ("content.sound", "sound"),
        ("liveActivity", "more"),
        ("when.timeZone", "zone"), ("schedule.cron", "cron"), ("data.attachment", "image"),
    ])
    func eachPathHasItsField(_ path: String, _ field: String) {
        var form = ComposeForm()
        (form["audience"], form["image"]) = ("tag", "https://x.example")
        form.languages = [.init(locale: "de")]
        #expect(ComposeFieldMapping.field(path, form) == field)
    }

    @Test(arguments: ["0 9 * * *", "30 18 * * mon-fri", "5 0 * * sun", "0 12 15 * *"])
    func commonTimesAreWords(_ cron: String) {
        let plan = CronPlan(cron: cron)
        #expect(plan.frequency != .cron)
        #expect(plan.expression == cron)
    }

    @Test(arguments: ["*/5 * * * *", "0 9 1 * mon", "0 25 * * *", "@daily", ""])
    func otherTimesStayAsTheyAre(_ cron: String) {
        let plan = CronPlan(cron: cron)
        #expect(plan.frequency == .cron)
        #expect(plan.expression == cron)
    }
}
