import ProviderAPI
import PushStore
import PushTypes
import WebPages

/// A problem that the API reports, as pages show it: with the button that mends it.
struct HealthProblemModel {
    /// The way to mend it: a page, or a form that is posted at once.
    enum Button {
        case page(label: String, path: String)
        case form(label: String, path: String)
    }

    private let trouble: HealthProblem
    private let request: PageRequest

    init(_ trouble: HealthProblem, _ request: PageRequest) {
        (self.trouble, self.request) = (trouble, request)
    }

    private var texts: LocalizedTexts { self.request.texts }
    private var code: HealthProblem.Code { self.trouble.code }
    /// The bundle id of the app; empty for what concerns the server.
    var app: String { self.trouble.app?.name ?? "" }
    private var environment: String { self.trouble.environment?.rawValue ?? "" }
    private var object: String { URLText.encoded(self.trouble.object ?? "") }
    private var appPath: String { PageRequest.appPath(self.app) }

    /// Indicates whether pushes are not sent because of it, or soon are not.
    var isBad: Bool { [.appStopped, .environmentPaused, .diskLow, .certificateExpired].contains(self.code) }

    /// The variables of the partial `trouble`. The remedy of the API is for a command line: where there is a button, only the
    /// cause of a pause needs it.
    var model: PageModel {
        let title = self.texts["trouble.\(self.code.rawValue)", ["app": self.app, "environment": self.environment]]
        var model: PageModel = [
            "kind": self.isBad ? "bad" : "warn", "title": title, "cause": self.trouble.message,
            "advice": false, "page": false, "form": false,
        ]
        if self.button == nil || [.environmentPaused, .filesMissing].contains(self.code) {
            model["advice"] = self.trouble.remedy
        }
        switch self.button {
        case .page(let label, let path):
            model["page"] = ["label": self.texts["trouble.\(label)"], "path": "\(Dashboard.root)\(path)"]
        case .form(let label, let path):
            model["form"] = ["label": self.texts["trouble.\(label)"], "path": "\(Dashboard.root)\(path)"]
        case nil: break
        }
        return model
    }

    /// The way on, as far as the caller's scopes allow it.
    private var button: Button? {
        let mayOperate = self.request.may(.operate)
        let credentials = "\(self.appPath)/credentials"
        switch self.code {
        case .appStopped: return mayOperate ? .form(label: "resumeApp", path: "\(self.appPath)/resume") : nil
        case .environmentPaused:
            guard mayOperate else { return .page(label: "see", path: credentials) }
            return .form(label: "resume", path: "\(credentials)/\(self.environment)/resume")
        case .certificateExpired, .certificateEnds:
            return .page(label: mayOperate ? "replace" : "see", path: "\(credentials)#\(self.environment)")
        case .breakerOpen: return .page(label: mayOperate ? "decide" : "see", path: "\(self.appPath)/tokens")
        case .scheduleProblem: return .page(label: "see", path: "\(self.appPath)/schedules/\(self.object)")
        case .webhookDisabled, .webhookFailing:
            return mayOperate ? .page(label: "see", path: "\(self.appPath)/webhooks/\(self.object)") : nil
        case .filesMissing: return .page(label: "see", path: "\(self.appPath)/publishing/files")
        case .diskLow, .logGrows: return .page(label: "see", path: "/system")
        case .bridgeOverruled: return nil
        }
    }
}
