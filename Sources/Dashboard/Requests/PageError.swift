import PushSupport
import WebPages

/// An error that a page finds itself, in the reader's language. All other errors are the API's, in English.
///
/// The API's words are the same in commands, logs and documents, so that they can be searched for: pages mark their language
/// instead of translating them (docs/decisions/0036).
enum PageError: String {
    case noSuchPage = "no_such_page"
    case otherApp = "page_of_other_app"
    case scopeLacks = "page_needs_scope"
    case fileMissing = "no_file_chosen"
    case sizeMissing = "no_size_given"
    case notANumber = "not_a_number"
    case inProgress = "in_progress_already"
    case passwordsDiffer = "passwords_differ"
    case notConfirmed = "not_confirmed"
    case allAppsAndSome = "all_apps_and_some"
    case changedMeanwhile = "page_changed_meanwhile"

    /// Returns the error for the form.
    ///
    /// - Parameters:
    ///   - message: The message in the reader's language.
    ///   - field: The field of the form.
    func error(_ message: String, kind: RequestError.Kind = .invalid, field: String? = nil) -> RequestError {
        RequestError(kind, code: self.rawValue, message: message, path: field)
    }

    /// Returns the variable `error` of the layouts.
    static func model(_ error: RequestError, _ texts: LocalizedTexts) -> PageModel {
        ["message": error.message, "language": Self.language(error) ?? texts.language]
    }

    /// Returns the language of an error's message; `nil` for that of the page.
    static func language(_ error: RequestError) -> String? {
        Self(rawValue: error.code) == nil ? "en" : nil
    }
}
