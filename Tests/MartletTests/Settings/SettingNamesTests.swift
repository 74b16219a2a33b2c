import Testing

@testable import martlet

/// The names of settings, and the nearest of a misspelled one.
@Suite struct SettingNamesTests {
    @Test(arguments: [
        ("", "", 0), ("a", "", 1), ("", "ab", 2), ("abc", "abc", 0), ("abc", "acb", 1), ("kitten", "sitting", 3),
        ("level", "levle", 1), ("ca", "abc", 3),
    ])
    func distanceCountsInsertionsDeletionsReplacementsAndSwaps(first: String, second: String, distance: Int) {
        #expect(SpellingDistance.between(Array(first), Array(second)) == distance)
        #expect(SpellingDistance.between(Array(second), Array(first)) == distance)
    }

    @Test func everySettingIsTheNearestToItself() {
        for setting in SettingNames.all.byKey.values {
            #expect(SettingNames.all.nearestKey(to: setting.key) == setting.key)
            #expect(SettingNames.all.nearestKey(to: setting.key.uppercased()) == setting.key)
            let variable = setting.environmentVariable
            #expect(SettingNames.all.nearestVariable(to: variable) == variable)
        }
    }

    @Test func nothingIsNearToSomethingElse() {
        #expect(SettingNames.all.nearestKey(to: "xyzzyxyzzy") == nil)
        #expect(SettingNames.all.nearestKey(to: "") == nil)
    }

    @Test func noTwoSettingsShareAName() {
        let settings = SettingTable.all.flatMap(\.settings)
        let keys = settings.flatMap { [$0.key] + $0.formerKeys }
        #expect(Set(keys).count == keys.count)
        #expect(Set(keys.map(Setting.environmentVariable)).count == keys.count)
        // A key that has members could not have a value.
        #expect(SettingNames.all.groups.isDisjoint(with: keys))
    }
}
