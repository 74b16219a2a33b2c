import PushSupport
import Testing

@testable import ProviderModel

/// The rules for new passwords.
@Suite struct PasswordPolicyTests {
    private func code(_ password: String, name: String = "anna") -> String? {
        do {
            try PasswordPolicy.check(password, name: name)
            return nil
        } catch {
            #expect(error.path == "password")
            #expect(password.isEmpty || !error.message.contains(password))
            return error.code
        }
    }

    @Test(arguments: [
        "correct horse battery", "ich mag kleine Eulen", "zwölf Zeichen!", "öäüßéèçñåøæœ",
        "\u{1f41d}\u{1f41e} \u{1f98b}\u{1f40c} im Garten", "739201846552",
        "               spaces  ", "Tr0ub4dor&3 und mehr", String(repeating: "lang und ", count: 14), "aB3$xY9!kL2@",
    ])
    func aLongAndRareOneIsGood(password: String) { #expect(self.code(password) == nil) }

    @Test func theLengthCountsInCharacters() {
        #expect(self.code("") == "password_too_short")
        #expect(self.code("elf zeichen") == "password_too_short")
        let long = String(repeating: "lang und ", count: 15)
        #expect(self.code(String(long.prefix(128))) == nil)
        #expect(self.code(String(long.prefix(129))) == "password_too_long")
        let families = "\u{1f468}\u{200d}\u{1f469}\u{200d}\u{1f467}\u{200d}\u{1f466}"
        #expect(self.code(String(repeating: families, count: 100)) == "password_too_long", "in bytes")
    }

    @Test(arguments: [
        "qwertyuiop123", "QwertyUiop123", "1q2w3e4r5t6y", "password1234", "Password2024!", "!!!P@ssw0rd!!!",
        "$unsh1ne12345",
        "letmein-2025!", "iloveyou1234", "passwort12345", "Summer2026!!!", "correcthorsebatterystaple",
    ])
    func aCommonOneIsRefused(password: String) { #expect(self.code(password) == "password_too_common") }

    @Test(arguments: [
        "aaaaaaaaaaaaaaa", "121212121212121", "abcabcabcabcabc", "abcdefghijklmno", "zyxwvutsrqponm", "890123456789",
        "            ",
    ])
    func aSimpleOneIsRefused(password: String) { #expect(self.code(password) == "password_too_simple") }

    @Test func theNameIsNotCounted() {
        #expect(self.code("anna-anna-anna", name: "Anna") == "password_too_simple")
        #expect(self.code("Anna.Schmidt.1", name: "anna.schmidt@example.com") == "password_too_simple")
        #expect(self.code("martletmartlet7", name: "bert") == "password_too_simple")
        #expect(self.code("anna und ihre Eulen", name: "Anna") == nil)
    }

    @Test(arguments: [
        "", " ", "\t\n", "a\u{0}b", "a\nb", "a\u{202e}b", "anna\u{3164}", "anna\u{2800}", "an\u{ad}na", "\u{115f}anna",
        String(repeating: "x", count: 101),
    ])
    func whatIsNoNameIsRefused(name: String) {
        #expect(throws: RequestError.self) { try PersonName.check(name) }
    }

    @Test func aNameLosesTheSpacesAroundIt() throws {
        #expect(try PersonName.check("  Anna Müller ") == "Anna Müller")
        #expect(try PersonName.check("anna@example.com") == "anna@example.com")
    }
}
