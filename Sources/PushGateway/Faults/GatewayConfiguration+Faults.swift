import Foundation
import PushSupport

extension GatewayConfiguration {
    /// Parses the faults of flags and file.
    /// - Throws: ``GatewayError`` with the invalid fault.
    func faultRules() throws -> [FaultRule] {
        var rules: [FaultRule] = []
        for text in self.faults {
            do {
                rules.append(try FaultRule(text: text))
            } catch {
                throw GatewayError.badFault(text, why: Self.text(of: error))
            }
        }
        guard let file = self.faultsFile else { return rules }
        let content: Data
        do {
            content = try Data(contentsOf: URL(filePath: file))
        } catch {
            throw GatewayError.badFile(path: file, why: ErrorDescription.of(error))
        }
        if let (line, column) = JSONValue.errorPosition(in: content) {
            throw GatewayError.badFile(path: file, why: "line \(line), column \(column) is not valid JSON in UTF-8")
        }
        do {
            return rules + (try FaultPlan.rules(json: content))
        } catch {
            throw GatewayError.badFile(path: file, why: Self.text(of: error))
        }
    }

    private static func text(of error: RequestError) -> String {
        [error.path, error.message].compactMap { $0 }.joined(separator: ": ")
    }
}
