import ArgumentParser
import Foundation
import PushSupport
import Testing

@testable import martlet

@Suite struct AudienceOptionsTests {
    @Test(arguments: [
        (["--all"], #"{"all":true}"#),
        (["--tag", "a"], #"{"tag":"a"}"#),
        (["--tag", "a", "--tag", "b"], #"{"and":[{"tag":"a"},{"tag":"b"}]}"#),
        (["--user", "a", "--user", "b"], #"{"users":["a","b"]}"#),
        (["--attribute", "plan=gold"], #"{"attribute":"plan","is":"gold"}"#),
        (["--at-least-version", "2.1", "--below-version", "3"], #"{"appVersion":{"atLeast":"2.1","below":"3"}}"#),
        (["--locale", "de", "--seen-within-days", "30"], #"{"and":[{"locale":"de"},{"lastSeen":{"withinDays":30}}]}"#),
        (["--query", #"{"not":{"tag":"a"}}"#], #"{"not":{"tag":"a"}}"#),
    ])
    func flagsMakeAnAudience(words: [String], json: String) throws {
        let members = try AudienceOptions.parse(words).members
        #expect(members["audience"] == .some(try JSONValue(parsing: Data(json.utf8))))
    }

    @Test(arguments: [
        [], ["--all", "--tag", "a"], ["--query", "{}", "--tag", "a"], ["--query", "[1]"], ["--query", "{"],
    ])
    func anAudienceIsGivenOnceAndInJSON(words: [String]) {
        #expect(throws: (any Error).self) { try AudienceOptions.parse(words).members }
    }
}
