# Learn a structure with bnlearn; prints the arcs and the seconds as JSON.
# Rscript bnlearn.R TABLE.csv SCORE MAX_PARENTS
given <- commandArgs(trailingOnly = TRUE)
suppressPackageStartupMessages(library(bnlearn))
table <- read.csv(given[1], na.strings = "", colClasses = "factor")
# A variable with one state has no place in bnlearn.
table <- table[vapply(table, nlevels, 1L) > 1]
options <- list(score = given[2], maxp = as.integer(given[3]))
if (given[2] == "bde") options$iss <- 1
begun <- proc.time()[["elapsed"]]
if (anyNA(table)) {
  found <- structural.em(table, maximize = "hc", maximize.args = options,
                         fit = "bayes", impute = "bayes-lw")
} else {
  found <- do.call(hc, c(list(table), options))
}
seconds <- proc.time()[["elapsed"]] - begun
pairs <- arcs(found)
listed <- if (nrow(pairs)) sprintf('["%s", "%s"]', pairs[, 1], pairs[, 2])
cat(sprintf('{"arcs": [%s], "seconds": %f}\n', paste(listed, collapse = ", "), seconds))
