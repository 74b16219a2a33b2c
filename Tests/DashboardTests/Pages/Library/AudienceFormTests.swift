import PushSupport
import PushTesting
import Testing

@testable import Dashboard

@Suite struct AudienceFormTests {
    @Test(
        arguments: [
            ["tag": "beta"], ["and": [["tag": "a"], ["locale": "de"]]],
            ["or": [["user": "x"], ["timeZone": "Europe/Berlin"]]],
            ["not": ["tag": "staff"]], ["appVersion": ["below": "2.10"]], ["lastSeen": ["withinDays": 30]],
            ["all": true],
            ["attribute": "level", "atLeast": 3], ["attribute": "level"], ["attribute": "vip", "is": true],
            ["and": [["tag": "a"], ["attribute": "level", "in": [1, 2]]]], ["not": ["not": ["tag": "a"]]],
        ] as [JSONValue]
    )
    func anAudienceSurvivesTheForm(_ expression: JSONValue) throws {
        #expect(try AudienceForm(expression).expression() == expression)
    }

    @Test func membersBesideEachOtherBecomeRows() throws {
        let form = AudienceForm(["tag": "beta", "locale": "de"])
        #expect(form.rows.count == 2)
        #expect(try form.expression() == ["and": [["locale": "de"], ["tag": "beta"]]])
    }

    @Test func whatRowsCannotShowIsJSON() throws {
        let form = AudienceForm(["or": [["tag": "a"], ["and": [["tag": "b"], ["tag": "c"]]]]])
        #expect(form.rows.count == 1 && form.isAny && !form.json.isEmpty)
    }

    @Test func emptyRowsAreNoConditions() throws {
        #expect(try AudienceForm().expression() == nil)
        var form = AudienceForm()
        for (action, isChange, count) in [
            ("add-condition", true, 2), ("remove-condition-1", true, 1), ("remove-condition-9", true, 1),
            ("save", false, 1),
        ] {
            let changed = form.change(by: action)
            #expect(changed == isChange && form.rows.count == count)
        }
        form.json = "{"
        #expect(throws: RequestError.self) { try form.expression() }
    }
}
